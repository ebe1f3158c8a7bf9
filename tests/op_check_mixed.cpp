#include <algorithm>
#include <cmath>

#include "case_graph.h"
#include "device_fixture.h"
#include "passes/run_passes.h"

namespace vkf::test {

DeviceTraits traits_with_matrices(const Device& device) {
    Graph inference;
    inference.activations = format_under_test() == Format::f16 ? Format::f16 : Format::bf16;
    DeviceTraits made = traits(device, inference);
    made.cpu = false;
    return made;
}

namespace {

Arrays product_limits(const OpCase& c, double terms, const MixedRun& run) {
    const bool bf16 = run.element == MatrixElement::bf16;
    const double unit = std::ldexp(1.0, bf16 ? -8 : -11), smallest = std::ldexp(1.0, bf16 ? -126 : -14);
    // Rounding errors of a product are relative to the sum of its terms' magnitudes. Numbers below the smallest normal
    // number have the error of that number.
    CaseGraph made(c, differentiable(c));
    run_passes(made.graph, only_storage_types);
    Arrays magnitudes = made.leaves;
    for (auto& [name, array] : magnitudes)
        for (double& x : array.at) x = std::max(std::abs(x), smallest);
    Arrays sums = interpret(made.graph, magnitudes);
    for (auto& [name, array] : sums)
        for (double& x : array.at)
            x = x * (2 * unit + unit * unit + terms * std::ldexp(1.0, -24) + run.packed) + run.packed_least;
    return sums;
}

}  // namespace

void check_mixed_kernels(const OpCase& c, double terms) {
    check_mixed_kernels(c, [&](const MixedRun& run) { return product_limits(c, terms, run); });
}

void check_mixed_kernels(const OpCase& c, double terms, const DeviceTraits& lowering) {
    check_mixed_kernels(
        c, [&](const MixedRun& run) { return product_limits(c, terms, run); }, lowering);
}

DeviceTraits traits_with_group_matrices(const Device& device) {
    DeviceTraits made = traits_with_matrices(device);
    const bool fp16 = made.matrices && made.matrices->element == MatrixElement::fp16;
    if (made.workgroup_matrices == 0 && fp16 && device.info().flexible_matrices)
        made.workgroup_matrices = made.subgroup_size;
    return made;
}

void check_mixed_kernels(const OpCase& c, const std::function<Arrays(const MixedRun&)>& limits) {
    const Device& device = shared_device();
    const DeviceTraits lowering = traits_with_matrices(device);
    if (!lowering.matrices) GTEST_SKIP() << device.info().name << " has no cooperative matrices that kernels can use";
    check_mixed_kernels(c, limits, lowering);
}

void check_mixed_kernels(const OpCase& c, const std::function<Arrays(const MixedRun&)>& limits,
                         const DeviceTraits& lowering) {
    CaseGraph made(c, differentiable(c));
    run_passes(made.graph, {.fuse_elementwise = false});
    const Format format = made.graph.activations;
    const Arrays wanted = interpret(made.graph, made.leaves);
    const Arrays limit =
        limits({as_kept(made), wanted, lowering.matrices->element, packed_units(format), packed_least(format)});
    const Bits found = run_checked(made, {.traits = lowering});
    for (const auto& [name, values] : found) {
        double worst = 0;
        std::size_t where = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double error = std::abs(static_cast<double>(values[i]) - wanted.at(name).at[i]);
            const double share = std::isnan(error) ? 1e30 : error == 0 ? 0 : error / limit.at(name).at[i];
            if (share > worst) worst = share, where = i;
        }
        EXPECT_LE(worst, 1.0) << name << ", element " << where << " of " << wanted.at(name).shape << ": "
                              << values[where] << ", wanted " << wanted.at(name).at[where];
    }
}

}  // namespace vkf::test
