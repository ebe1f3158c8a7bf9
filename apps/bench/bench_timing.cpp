#include "apps/bench/bench_timing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/random.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "passes/run_passes.h"
#include "program/warm_up.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

constexpr double BATCH_SECONDS = 0.02;  // length of the repetitions in one submission
constexpr double MOST_REPETITIONS = 16;
constexpr std::size_t DRAWN = 1 << 16;  // random numbers, repeated in larger tensors

/// A case compiled to a program.
struct CaseProgram {
    CaseGraph made;
    State state;
    Program program;

    CaseProgram(Device& device, const Case& c, std::size_t repetitions, Format activations)
        : made(c, repetitions, activations), state(device), program(device, made.graph, state, {.stamps = true}) {
        made.operands.write(program, state);
    }

    /// Seconds of each repetition in the last run. Sets `work`, which is the same for all repetitions.
    std::vector<double> seconds(Measurement& work) const {
        std::vector<double> spent(made.ends.size(), 0.0);
        work.flops = work.bytes = 0;
        work.element.clear();
        for (const NodeTime& node : program.node_times())
            for (std::size_t i = 0; i < spent.size(); ++i) {
                if (node.node < made.begins[i] || node.node >= made.ends[i]) continue;
                spent[i] += node.ms * 1e-3;
                if (i > 0) continue;
                if (work.flops == 0) work.kernel = node.kernel;
                if (work.element.empty()) work.element = matrix_element(node.kernel);
                work.flops += node.flops;
                work.bytes += node.bytes;
            }
        return spent;
    }
};

/// Reason why a case cannot be run; empty if it can.
std::string obstacle(const Device& device, const Case& c, const TimingLimits& limits) {
    const Analysis analysis = analyse_case(device, c, limits.activations);
    if (std::string lack = lacking_memory(device, analysis); !lack.empty() || !limits.peak) return lack;
    const double seconds = least_seconds(analysis, *limits.peak);
    if (seconds <= limits.longest_repetition) return {};
    return text("would take more than ", fixed(seconds, 1), " s each time");
}

}  // namespace

Analysis analyse_case(const Device& device, const Case& c, Format activations) {
    CaseGraph once(c, 1, activations);
    return analyse(once.graph, traits(device));
}

double least_seconds(const Analysis& analysis, const Peak& peak) {
    double seconds = 0;
    for (const NodeCost& cost : analysis.costs) seconds += peak.least_seconds(cost.flops, cost.bytes);
    return seconds;
}

std::string lacking_memory(const Device& device, const Analysis& analysis) {
    const auto needed = static_cast<double>(analysis.bytes()),
               present = static_cast<double>(device.info().memory_bytes);
    if (needed <= present) return {};
    return text("needs ", bytes_text(needed), " of memory, the device has ", bytes_text(present));
}

// --- Graphs --------------------------------------------------------------------------------------

CaseGraph::CaseGraph(const Case& c, std::size_t repetitions, Format activations) {
    graph.activations = activations;
    const Repetition once = c.prepare(operands);
    for (std::size_t i = 0; i < repetitions; ++i) {
        begins.push_back(graph.nodes().size());
        const std::vector<Tensor> results = once();
        ends.push_back(graph.nodes().size());
        for (const Tensor& result : results) keep(result);
    }
    // Passes insert casts between the nodes; nodes are found again by their outputs.
    std::vector<Tensor> firsts, lasts;
    for (std::size_t i = 0; i < repetitions; ++i) {
        firsts.push_back(graph.nodes()[begins[i]].out[0]);
        lasts.push_back(graph.nodes()[ends[i] - 1].out[0]);
    }
    run_passes(graph, only_storage_types);
    std::map<std::uint32_t, std::size_t> makers;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) makers[graph.nodes()[i].out[0].id()] = i;
    for (std::size_t i = 0; i < repetitions; ++i) {
        begins[i] = makers.at(firsts[i].id());
        ends[i] = makers.at(lasts[i].id()) + 1;
    }
}

void CaseGraph::keep(Tensor result) {
    if (graph.storage(result).role != Role::transient) return;
    // A 16-bit result is kept by a pair of its numbers. Results of fp32 operands are in fp32.
    const auto is_packed = [](const Storage& at) { return at.role == Role::state && at.format != Format::f32; };
    const std::int64_t few = std::ranges::any_of(graph.storages(), is_packed) && result.elements() % 2 == 0 ? 2 : 1;
    const Tensor first = slice(reshape(result, {result.elements()}), 0, 0, few);
    graph.output(text("kept ", graph.outputs().size()), scale(first, 1.0f));
}

// --- Operands ------------------------------------------------------------------------------------

Tensor Operands::numbers(const Shape& shape) {
    drawn_.push_back(text("numbers ", made_));
    return graph_.state(text("numbers ", made_++), {DType::f32, shape});
}

Tensor Operands::activations(const Shape& shape) {
    drawn_.push_back(text("numbers ", made_));
    const Format format = shape.width() % 2 == 0 ? graph_.activations : Format::f32;
    return graph_.state(text("numbers ", made_++), {DType::f32, shape}, format);
}

Tensor Operands::zeros(const Shape& shape) {
    return graph_.state(text("zeros ", made_++), {DType::f32, shape});
}

Tensor Operands::indices(const Shape& shape, std::int64_t end) {
    const std::string name = text("indices ", made_++);
    Random random(1, name);
    std::vector<std::int32_t>& list = indices_[name];
    for (std::int64_t i = 0; i < shape.elements(); ++i)
        list.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(end))));
    return graph_.input(name, {DType::i32, shape});
}

Tensor Operands::values(std::vector<float> values) {
    const std::string name = text("values ", made_++);
    const auto count = std::ssize(values);
    values_[name] = std::move(values);
    return graph_.input(name, {DType::f32, {count}});
}

void Operands::write(Program& program, State& state) const {
    Random random(1, "operands");
    std::vector<float> block(DRAWN);
    for (float& number : block) number = 2 * random.uniform() - 1;
    for (const std::string& name : drawn_) {
        std::vector<float> whole(static_cast<std::size_t>(state.type(name).shape.elements()));
        for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = block[i % DRAWN];
        state.write(name, whole);
    }
    for (const auto& [name, list] : indices_) program.write(name, list);
    for (const auto& [name, list] : values_) program.write(name, list);
}

// --- Timing --------------------------------------------------------------------------------------

std::optional<Measurement> time_case(Device& device, const Case& c, const TimingLimits& limits, std::string& reason) {
    reason = obstacle(device, c, limits);
    if (!reason.empty()) return std::nullopt;
    Measurement made{.family = c.family, .name = c.name, .shape = c.shape, .layout = c.layout};
    auto program = std::make_unique<CaseProgram>(device, c, 1, limits.activations);
    program->program.run();  // drivers compile at the first launch
    program->program.run();
    const double once = std::max(program->seconds(made).front(), 1e-9);
    const auto repetitions = static_cast<std::size_t>(std::clamp(BATCH_SECONDS / once, 1.0, MOST_REPETITIONS));
    if (repetitions > 1) {
        program.reset();  // frees its memory first
        program = std::make_unique<CaseProgram>(device, c, repetitions, limits.activations);
    }
    warm_up(device, [&] { program->program.run(); });
    std::vector<double> samples;
    time_calls(limits.seconds, [&] {
        program->program.run();
        const std::vector<double> seconds = program->seconds(made);
        samples.insert(samples.end(), seconds.begin(), seconds.end());
    });
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(repetitions));  // the first call
    made.seconds = timing_of(std::move(samples));
    return made;
}

}  // namespace vkf
