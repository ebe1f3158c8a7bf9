// Each table of op cases: its mathematics, and its kernels on the device.
#include "checks/op_tables.h"

#include "device_fixture.h"
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
#define BOUNDED_TABLE(name)
#define ROUNDED_TABLE(name)
#include "checks/op_tables.def"
#undef BOUNDED_TABLE
#undef ROUNDED_TABLE
#undef OP_TABLE

TEST(DeviceFunctions, AreAsPreciseAsVulkanDemands) {
    for (const BoundedTable& table : bounded_tables())
        for (const BoundedCase& at : table.cases()) {
            SCOPED_TRACE(at.c.name);
            const KernelCheck check = check_bounded_kernels(shared_device(), at.c, Format::f32, at.bounds, {});
            for (const std::string& failure : check.failures()) ADD_FAILURE() << failure;
        }
}

}  // namespace
}  // namespace vkf::test
