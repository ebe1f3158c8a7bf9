#include "models/attention/variant.h"

#include <algorithm>

#include "base/error.h"

namespace vkf {

#define VARIANT(function) const AttentionVariant& function();
#include "models/attention/variants.def"
#undef VARIANT

Tensor AttentionContext::required_query_values() const {
    require(static_cast<bool>(query_values), "attention '", config.variant_name(),
            "' needs values at the queries' own positions, and in cross-attention there are none: wanted standard");
    return query_values;
}

std::span<const AttentionVariant* const> variants() {
    static const AttentionVariant* const all[] = {
#define VARIANT(function) &function(),
#include "models/attention/variants.def"
#undef VARIANT
    };
    return all;
}

const AttentionVariant& variant_named(std::string_view name) {
    for (const AttentionVariant* variant : variants())
        if (variant->name == name) return *variant;
    std::string known;
    for (const std::string& other : variant_names()) known += (known.empty() ? "" : ", ") + other;
    throw InputError("unknown attention variant '", name, "'; there are: ", known);
}

std::vector<std::string> variant_names() {
    std::vector<std::string> names;
    for (const AttentionVariant* variant : variants()) names.emplace_back(variant->name);
    return names;
}

std::string variants_with(std::string_view option_key) {
    std::vector<std::string> names;
    for (const AttentionVariant* variant : variants()) {
        const std::vector<Field> own = variant->options.places();
        if (std::ranges::find(own, option_key, &Field::key) != own.end()) names.emplace_back(variant->name);
    }
    return listed(names);
}

}  // namespace vkf
