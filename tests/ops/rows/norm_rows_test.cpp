// Norms, lowered as for a GPU whose workgroups take several rows one after the other, which depends on the GPU's size.
#include "device_fixture.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/rows/norm.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

/// Rows of `width`, with a weight and, for LayerNorm, a bias; the last group has fewer rows than the others.
OpCase rows_of(std::int64_t width, std::int64_t rows, bool center) {
    return {.name = text(center ? "layer norm of " : "RMS norm of ", width),
            .operands = {normal({rows, width}), normal({width}, 0.3, 1.0), normal({width})},
            .build = [center](Inputs x) {
                const Tensor y = center ? layer_norm(x[0], x[1], x[2], 1e-2f) : rms_norm(x[0], x[1], 1e-2f);
                return std::vector{y, add(x[2], x[2])};
            }};
}

std::vector<OpCase> row_cases() {
    std::vector<OpCase> cases;
    for (const bool center : {true, false}) {
        cases.push_back(rows_of(3, 1103, center));
        cases.push_back(rows_of(16, 1101, center));
        cases.push_back(rows_of(17, 1101, center));  // half a pair
        cases.push_back(rows_of(128, 101, center));
        cases.push_back(rows_of(195, 67, center));
        cases.push_back(rows_of(768, 41, center));
        cases.push_back(rows_of(2003, 29, center));
        cases.push_back(rows_of(4100, 21, center));  // two strips, which are not prefetched
    }
    cases.push_back({"slices of rows that hold no numbers", {padded({67, 195}, 3), normal({195})}, [](Inputs x) {
                         return std::vector{layer_norm(x[0], x[1], x[1], 1e-2f), rms_norm(x[0], x[1], 1e-2f)};
                     }});
    cases.push_back({"without parameters", {normal({67, 195})}, [](Inputs x) {
                         return std::vector{layer_norm(x[0], {}, {}, 1e-2f), rms_norm(x[0], {}, 1e-2f)};
                     }});
    for (const std::int64_t width : {194, 195})  // the kernel adds the residual's gradient
        cases.push_back({.name = text("residual of ", width),
                         .operands = {normal({67, width}), normal({width})},
                         .build =
                             [](Inputs x) {
                                 return std::vector{add(x[0], layer_norm(x[0], x[1], {}, 1e-2f)),
                                                    add(x[0], rms_norm(x[0], x[1], 1e-2f))};
                             },
                         .rounded_terms = true});
    cases.push_back({"in the memory of its input", {normal({67, 194}), normal({194})}, [](Inputs x) {
                         return std::vector{layer_norm(scale(x[0], 3.0f), x[1], {}, 1e-2f)};
                     }});
    return cases;
}

DeviceTraits gpu_of(std::uint32_t compute_units) {
    DeviceTraits made = traits_of_gpu(shared_device());
    made.compute_units = compute_units;
    return made;
}

class DeviceNormRows : public ::testing::TestWithParam<OpCase> {};

TEST_P(DeviceNormRows, Kernels) {
    check_kernels(GetParam(), gpu_of(1));
}

/// Groups of one row, which prefetch nothing, give the same results and gradients of x. Gradients of parameters are not
/// compared: they are sums with one part per group.
TEST_P(DeviceNormRows, EqualThoseOfGroupsOfOneRow) {
    CaseGraph some(GetParam(), true, format_under_test()), each(GetParam(), true, format_under_test());
    const Bits in_turn = run_checked(some, {.traits = gpu_of(1)});
    const Bits alone = run_checked(each, {.traits = gpu_of(4096)});
    for (const auto& [name, values] : in_turn) {
        if (name[0] == 'y' || name == "d_x0") {
            EXPECT_EQ(values, alone.at(name)) << name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceNormRows, ::testing::ValuesIn(row_cases()), case_name);

}  // namespace
}  // namespace vkf::test
