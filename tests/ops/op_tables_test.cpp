// Each table of op cases: its mathematics, and its kernels on the device.
#include "checks/op_tables.h"

#include "op_check.h"

namespace vkf::test {
namespace {

#define OP_TABLE(name, Suite)                                                                     \
    class Host##Suite : public ::testing::TestWithParam<OpCase> {};                               \
    class Device##Suite : public ::testing::TestWithParam<OpCase> {};                             \
    TEST_P(Host##Suite, Mathematics) {                                                            \
        check_mathematics(GetParam());                                                            \
    }                                                                                             \
    TEST_P(Device##Suite, Kernels) {                                                              \
        check_kernels(GetParam());                                                                \
    }                                                                                             \
    INSTANTIATE_TEST_SUITE_P(Table, Host##Suite, ::testing::ValuesIn(name##_cases()), case_name); \
    INSTANTIATE_TEST_SUITE_P(Table, Device##Suite, ::testing::ValuesIn(name##_cases()), case_name);
#include "checks/op_tables.def"
#undef OP_TABLE

}  // namespace
}  // namespace vkf::test
