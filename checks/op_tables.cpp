#include "checks/op_tables.h"

namespace vkf::checks {

std::span<const OpTable> op_tables() {
    static constexpr OpTable tables[] = {
#define OP_TABLE(name, Suite) {#name, name##_cases},
#include "checks/op_tables.def"
#undef OP_TABLE
    };
    return tables;
}

}  // namespace vkf::checks
