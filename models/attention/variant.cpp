#include "models/attention/variant.h"

#include "base/error.h"

namespace vkf {

#define VARIANT(function) const AttentionVariant& function();
#include "models/attention/variants/variants.def"
#undef VARIANT

std::span<const AttentionVariant* const> variants() {
    static const AttentionVariant* const all[] = {
#define VARIANT(function) &function(),
#include "models/attention/variants/variants.def"
#undef VARIANT
    };
    return all;
}

const AttentionVariant& variant_named(std::string_view name) {
    for (const AttentionVariant* variant : variants())
        if (variant->name == name) return *variant;
    throw InputError("unknown attention variant '", name, "'; there are: ", listed(variant_names()));
}

std::vector<std::string> variant_names() {
    std::vector<std::string> names;
    for (const AttentionVariant* variant : variants()) names.emplace_back(variant->name);
    return names;
}

}  // namespace vkf
