// Kinds of attention: how its result o comes about. What is done with o and the values is the variant's part
// (models/attention/variant.h). Each kind is an AttentionKind in a file of its own, and a line of kinds.def.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/attention/attention_context.h"

namespace vkf {

/// One line of kinds.def. A kind without `attend` is softmax(scale · QKᵀ)V under a mask, and forms weights that can be
/// shown.
struct AttentionKind {
    std::string_view name;            // in configurations and on the command line
    AnyConfig options = NoOptions();  // of the kind, with the values of keys that config.json lacks
    /// Hides keys in the mask of block `layer`.
    void (*hide)(const AnyConfig& options, std::int64_t layer, AttentionMask&) = nullptr;
    /// Makes further maps of the layer's input, and exchanges query_values where o is made of other values.
    void (*prepare)(AttentionContext&) = nullptr;
    /// o, [B, T, M·D_V]. Throws InputError naming the kind for a layer that it cannot serve.
    Tensor (*attend)(const AttentionContext&) = nullptr;
    /// True if `attend` keeps a state by KeyValueCache::carry(), of a size that does not depend on the length, instead
    /// of keys and values of all positions. The state cannot forget: no position may be read twice.
    bool carries_state = false;
    /// Sets options that were not given, from the longest sequence of a fresh model.
    void (*settle)(AnyConfig& options, std::int64_t longest) = nullptr;
};

/// All kinds, in the order of kinds.def.
std::span<const AttentionKind* const> attention_kinds();
/// Finds a kind by name. Throws InputError listing the known names.
const AttentionKind& kind_named(std::string_view name);
std::vector<std::string> kind_names();

}  // namespace vkf
