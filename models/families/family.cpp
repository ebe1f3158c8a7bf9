#include "models/families/family.h"

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

const Family& family_named(std::string_view model_type) {
    std::vector<std::string> known;
    for (const Family* family : families()) {
        if (family->model_type == model_type) return *family;
        known.emplace_back(family->model_type);
    }
    throw InputError("'model_type' is '", model_type, "', wanted ", listed(known));
}

}  // namespace vkf
