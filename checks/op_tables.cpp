#include "checks/op_tables.h"

namespace vkf::checks {

#define OP_TABLE(name, Suite)
#define BOUNDED_TABLE(name)
#define ROUNDED_TABLE(name)

std::span<const OpTable> op_tables() {
#undef OP_TABLE
#define OP_TABLE(name, Suite) {#name, name##_cases},
    static constexpr OpTable tables[] = {
#include "checks/op_tables.def"
    };
    return tables;
#undef OP_TABLE
#define OP_TABLE(name, Suite)
}

std::span<const BoundedTable> bounded_tables() {
#undef BOUNDED_TABLE
#define BOUNDED_TABLE(name) {#name, name##_cases},
    static constexpr BoundedTable tables[] = {
#include "checks/op_tables.def"
    };
    return tables;
#undef BOUNDED_TABLE
#define BOUNDED_TABLE(name)
}

std::span<const BoundedTable> rounded_tables() {
#undef ROUNDED_TABLE
#define ROUNDED_TABLE(name) {#name, name##_cases},
    static constexpr BoundedTable tables[] = {
#include "checks/op_tables.def"
    };
    return tables;
}

}  // namespace vkf::checks
