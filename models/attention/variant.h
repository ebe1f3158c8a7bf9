// Attention variants: functions of queries, keys and values, with results that go to a layer's output map. Each variant
// is an AttentionVariant in a file of its own, and a line of variants.def.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/attention/attention_context.h"

namespace vkf {

/// Inputs of the output map W^o, [B, T, M·D_V], and, if there is one, of the second map W^s (no bias, same shape).
struct VariantOutput {
    Tensor main;
    Tensor extra = {};
};

struct Task;

/// True if the option of this key was given.
using Given = std::function<bool(std::string_view key)>;

/// One line of variants.def.
struct AttentionVariant {
    std::string_view name;  // in configurations and on the command line
    VariantOutput (*mix)(const AttentionContext&);
    AnyConfig options = NoOptions();  // of the variant, with the values of keys that config.json lacks
    /// Sets options that were not given to the values of the variant's paper for a task.
    void (*choose)(AttentionConfig&, const Task&, const Given&) = nullptr;
    /// Number of maps softmax(QKᵀ) per head; their queries and keys are next to each other. Attention weights can be
    /// shown only if there is one map.
    std::int64_t maps = 1;
};

/// All variants, in the order of variants.def.
std::span<const AttentionVariant* const> variants();
/// Finds a variant by name. Throws InputError listing the known names.
const AttentionVariant& variant_named(std::string_view name);
std::vector<std::string> variant_names();

}  // namespace vkf
