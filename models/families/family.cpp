#include "models/families/family.h"

#include <algorithm>

#include "base/error.h"

namespace vkf {

#define FAMILY(function) const Family& function();
#include "models/families/families.def"
#undef FAMILY

std::span<const Family* const> families() {
    static const Family* const all[] = {
#define FAMILY(function) &function(),
#include "models/families/families.def"
#undef FAMILY
    };
    return all;
}

const Family& family_named(std::string_view model_type, std::string_view architecture) {
    std::vector<std::string> known;
    const Family* first = nullptr;
    for (const Family* family : families()) {
        if (std::ranges::find(known, family->model_type) == known.end()) known.emplace_back(family->model_type);
        if (family->model_type != model_type) continue;
        if (family->architecture == architecture) return *family;
        if (!first) first = family;
    }
    if (first) return *first;
    throw InputError("'model_type' is '", model_type, "', wanted ", listed(known));
}

}  // namespace vkf
