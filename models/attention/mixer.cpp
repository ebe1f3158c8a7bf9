#include "models/attention/attention.h"

#include "base/error.h"

namespace vkf {

#define VARIANT(name, function, maps) Signals function(const AttentionContext&);
#include "models/attention/variants.def"
#undef VARIANT

namespace {

constexpr Variant all_variants[] = {
#define VARIANT(name, function, maps) {name, function, (maps) == 2},
#include "models/attention/variants.def"
#undef VARIANT
};

}  // namespace

std::span<const Variant> variants() {
    return all_variants;
}

const Variant& variant_named(std::string_view name) {
    std::string known;
    for (const Variant& variant : all_variants) {
        if (variant.name == name) return variant;
        known += (known.empty() ? "" : ", ") + std::string(variant.name);
    }
    throw InputError("unknown attention variant '", name, "'; there are: ", known);
}

}  // namespace vkf
