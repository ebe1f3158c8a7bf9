#include "models/attention/kind.h"

#include "base/error.h"

namespace vkf {

#define KIND(function) const AttentionKind& function();
#include "models/attention/kinds/kinds.def"
#undef KIND

std::span<const AttentionKind* const> attention_kinds() {
    static const AttentionKind* const all[] = {
#define KIND(function) &function(),
#include "models/attention/kinds/kinds.def"
#undef KIND
    };
    return all;
}

const AttentionKind& kind_named(std::string_view name) {
    for (const AttentionKind* kind : attention_kinds())
        if (kind->name == name) return *kind;
    throw InputError("unknown kind of attention '", name, "'; there are: ", listed(kind_names()));
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const AttentionKind* kind : attention_kinds()) names.emplace_back(kind->name);
    return names;
}

}  // namespace vkf
