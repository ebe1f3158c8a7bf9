// The attention family: what a layer makes of queries, keys and values before its output map. Each member is a Mixer,
// which says all there is to say of it in its own file, and has a line in mixers.def.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/attention/attention_config.h"
#include "models/scope.h"
#include "ops/attention_epilogue.h"

namespace vkf {

/// What a mixer works on: heads side by side, M of queries, options.value_heads() of keys and values.
struct AttentionContext {
    Scope scope;   // the layer's: for parameters of the mixer's own; scope.layer() is the block's number
    Tensor q;      // [B, T, M·D]
    Tensor k, v;   // [B, S, N·D], [B, S, N·D_V]: all that is attended to, a cache of keys and values for instance
    Tensor own_v;  // [B, T, N·D_V], the values at the queries' own positions
    AttentionOptions options;
    const AttentionConfig& config;

    AttentionInputs inputs() const { return {q, k, v, own_v}; }
};

/// What goes to the output map W^o, [B, T, M·D_V], and, if there is one, to the second map W^s (no bias, same shape).
struct MixerOutput {
    Tensor first;
    Tensor second = {};
};

enum class Task : std::uint8_t { language, images };

/// Whether somebody gave an option, by its key.
using Given = std::function<bool(std::string_view key)>;

/// One line of mixers.def.
struct Mixer {
    std::string_view name;  // in configurations and on the command line
    MixerOutput (*mix)(const AttentionContext&);
    AnyConfig options = NoOptions();  // its own, with the values that config.json means where it is silent
    /// Sets what nobody gave as its paper has it for a task.
    void (*choose)(AttentionConfig&, Task, const Given&) = nullptr;
    /// Maps softmax(QKᵀ) of a head, whose queries and keys lie side by side. The weights of a single one can be looked
    /// at.
    std::int64_t maps = 1;
};

/// In the order of mixers.def.
std::span<const Mixer* const> mixers();
/// Throws InputError listing the known names.
const Mixer& mixer_named(std::string_view name);
std::vector<std::string> mixer_names();

/// The mixers that have an option of this key, as people write it; "" if none has.
std::string mixers_with(std::string_view option_key);

}  // namespace vkf
