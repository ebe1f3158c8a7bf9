#include "checks/kernel_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "passes/run_passes.h"
#include "vulkan/device/device.h"

namespace vkf::checks {

namespace {

/// Error limits of an op case: OpCase::ulps of the largest element, and roundings to 16 bits.
Bounds case_bounds(const OpCase& c) {
    return [&c](const BoundedRun& run) {
        Arrays bounds = run.wanted;
        for (auto& [name, array] : bounds) {
            const bool gradient = name[0] == 'd';
            double scale = 0;
            for (const double w : array.at) scale = std::max(scale, std::abs(w));
            const double computed =
                (gradient ? c.gradient_ulps : c.ulps) * std::ldexp(1.0, -24) * std::max(scale, 1e-30) +
                (gradient ? c.gradient_roundings * run.packed * scale : 0.0);
            for (double& w : array.at)
                w = computed + run.packed * (c.rounded_terms ? scale : std::abs(w)) + run.packed_least;
        }
        return bounds;
    };
}

OutputError largest_error(const std::string& name, const std::vector<float>& found, const Array& wanted,
                          const Array& bounds, Format format) {
    OutputError worst{.output = name, .shape = wanted.shape};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double error = std::abs(static_cast<double>(found[i]) - wanted.at[i]);
        // A number may leave the range of 16 bits in both.
        const bool both = format != Format::f32 && std::isnan(found[i]) && std::isnan(wanted.at[i]);
        const double share = both || error == 0 ? 0 : std::isnan(error) ? 1e30 : error / bounds.at[i];
        if (i > 0 && share <= worst.share) continue;
        worst.element = i, worst.share = share, worst.found = static_cast<double>(found[i]);
        worst.wanted = wanted.at[i];
    }
    return worst;
}

void check_graph(Device& device, CaseGraph& graph, const Bounds& bounds, const ProgramOptions& lowering,
                 KernelCheck& check) {
    const Format format = graph.graph.activations;
    const Arrays wanted = interpret(graph.graph, graph.leaves);
    const MatrixElement element =
        lowering.traits && lowering.traits->matrices ? lowering.traits->matrices->element : MatrixElement::fp16;
    const Arrays limits = bounds({as_kept(graph), wanted, format, element, packed_units(format), packed_least(format)});
    CaseRun run = run_case(device, graph, lowering);
    for (const auto& [name, values] : run.outputs)
        check.errors.push_back(largest_error(name, values, wanted.at(name), limits.at(name), format));
    check.faults.insert(check.faults.end(), run.faults.begin(), run.faults.end());
    check.outputs = std::move(run.outputs);
}

void write_inputs(Program& program, const Graph& graph, const Arrays& leaves) {
    for (const auto& [name, array] : leaves) {
        if (graph.input_named(name).dtype() == DType::f32)
            program.write(name, std::vector<float>(array.at.begin(), array.at.end()));
        else
            program.write(name, std::vector<std::int32_t>(array.at.begin(), array.at.end()));
    }
}

Bits read_outputs(const Program& program, const Graph& graph) {
    Bits bits;
    for (const auto& [name, tensor] : graph.outputs()) {
        if (tensor.dtype() == DType::f32) {
            bits[name] = program.read(name);
        } else {
            const std::vector<std::int32_t> values = program.read_ints(name);
            bits[name].assign(values.begin(), values.end());
        }
    }
    return bits;
}

void compare_bits(const Bits& a, const Bits& b, const char* run, std::vector<std::string>& faults) {
    for (const auto& [name, values] : a)
        if (std::memcmp(values.data(), b.at(name).data(), values.size() * sizeof(float)) != 0)
            faults.push_back(text(name, " has other bits in ", run));
}

}  // namespace

double packed_units(Format format) {
    return format == Format::f32 ? 0.0 : std::ldexp(2.0, format == Format::bf16 ? -8 : -10);
}

double packed_least(Format format) {
    return format == Format::f16 ? std::ldexp(2.0, -24) : std::ldexp(1.0, -126);
}

CaseRun run_case(Device& device, CaseGraph& graph, const ProgramOptions& lowering) {
    CaseRun run;
    State state(device);
    ProgramOptions with_guards = lowering;
    with_guards.guarded = true;
    Program guarded(device, graph.graph, state, with_guards);
    write_inputs(guarded, graph.graph, graph.leaves);
    guarded.run();
    if (const std::string damage = guarded.damaged_guards(); !damage.empty()) run.faults.push_back(damage);
    run.outputs = read_outputs(guarded, graph.graph);
    guarded.run();
    compare_bits(run.outputs, read_outputs(guarded, graph.graph), "a second run", run.faults);
    Program plain(device, graph.graph, state, lowering);
    write_inputs(plain, graph.graph, graph.leaves);
    plain.run();
    compare_bits(run.outputs, read_outputs(plain, graph.graph), "a run with shared memory", run.faults);
    return run;
}

Bounds product_bounds(const OpCase& c, double terms) {
    return [c, terms](const BoundedRun& run) {
        const bool bf16 = run.element == MatrixElement::bf16;
        const double unit = std::ldexp(1.0, bf16 ? -8 : -11), smallest = std::ldexp(1.0, bf16 ? -126 : -14);
        // Rounding errors of a product are relative to the sum of its terms' magnitudes. Numbers below the smallest
        // normal number have the error of that number.
        CaseGraph graph(c, differentiable(c), run.format);
        run_passes(graph.graph, only_storage_types);
        Arrays magnitudes = graph.leaves;
        for (auto& [name, array] : magnitudes)
            for (double& x : array.at) x = std::max(std::abs(x), smallest);
        Arrays sums = interpret(graph.graph, magnitudes);
        for (auto& [name, array] : sums)
            for (double& x : array.at)
                x = x * (2 * unit + unit * unit + terms * std::ldexp(1.0, -24) + run.packed) + run.packed_least;
        return sums;
    };
}

std::string text_of(const OutputError& error) {
    return text(error.output, ", element ", error.element, " of ", error.shape, ": ", error.found, ", wanted ",
                error.wanted, " (", error.share, " times its bound)");
}

double KernelCheck::worst() const {
    double worst = 0;
    for (const OutputError& error : errors) worst = std::max(worst, error.share);
    return worst;
}

std::vector<std::string> KernelCheck::failures() const {
    std::vector<std::string> lines = faults;
    for (const OutputError& error : errors)
        if (!(error.share <= 1)) lines.push_back(text_of(error));
    return lines;
}

KernelCheck check_kernels(Device& device, const OpCase& c, Format format, const ProgramOptions& lowering) {
    KernelCheck check;
    CaseGraph unfused(c, differentiable(c), format), fused(c, differentiable(c), format);
    run_passes(unfused.graph, {.fuse_elementwise = false});
    check_graph(device, unfused, case_bounds(c), lowering, check);
    run_passes(fused.graph);
    if (fused.graph.nodes().size() < unfused.graph.nodes().size())
        check_graph(device, fused, case_bounds(c), lowering, check);
    return check;
}

KernelCheck check_bounded_kernels(Device& device, const OpCase& c, Format format, const Bounds& bounds,
                                  const ProgramOptions& lowering) {
    KernelCheck check;
    CaseGraph graph(c, differentiable(c), format);
    run_passes(graph.graph, {.fuse_elementwise = false});
    check_graph(device, graph, bounds, lowering, check);
    return check;
}

}  // namespace vkf::checks
