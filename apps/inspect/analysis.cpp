#include "apps/inspect/analysis.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "graph/lower.h"
#include "models/language_model.h"
#include "passes/run_passes.h"
#include "program/accesses.h"
#include "program/program.h"
#include "vulkan/kernel/kernel.h"
#include "vulkan/recording.h"

namespace vkf {

namespace {

/// Node that makes a storage (the whole of it, if other nodes make parts), and nodes of its first and last use; nodes
/// are counted in the graph's order.
struct Life {
    const Node* maker = nullptr;
    std::size_t first = 0, last = 0;
};

std::vector<Life> lives(const Graph& graph, const LiveNodes& live) {
    std::vector<Life> made(graph.storages().size());
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        if (!live[i]) continue;
        const Node& node = graph.nodes()[i];
        for (const Tensor& out : node.out) {
            Life& life = made[graph.value(out).storage];
            if (!life.maker) life = {&node, i, i};
            if (!node.is_view() && out.elements() == graph.storage(out).type.shape.elements()) life.maker = &node;
            life.last = i;
        }
        for (const Tensor& in : node.in)
            if (in) made[graph.value(in).storage].last = i;
    }
    for (const NamedTensor& output : graph.outputs())
        made[graph.value(output.tensor).storage].last = graph.nodes().size();
    return made;
}

/// Bytes of the states of all these graphs, which share states of one name.
std::int64_t state_bytes(const std::vector<const Graph*>& graphs) {
    std::map<std::string_view, std::int64_t> states;
    for (const Graph* graph : graphs)
        for (const Storage& storage : graph->storages())
            if (storage.role == Role::state) states[storage.name] = storage.bytes();
    std::int64_t sum = 0;
    for (const auto& [name, bytes] : states) sum += bytes;
    return sum;
}

/// Bytes of the constants of all these graphs, which share constants of equal values.
std::int64_t constant_bytes(const std::vector<const Graph*>& graphs) {
    std::set<std::vector<std::byte>> known;
    std::int64_t sum = 0;
    for (const Graph* graph : graphs)
        for (const Storage& storage : graph->storages())
            if (storage.role == Role::constant && known.insert(*storage.values).second) sum += storage.bytes();
    return sum;
}

/// Places of all tensors; tensors outside the arena are placed as if each had its own memory behind the arena.
class Layout {
public:
    Layout(const Graph& graph, const Plan& plan, const std::vector<std::vector<std::int64_t>>& scratches)
        : graph_(graph), plan_(plan), scratches_(scratches) {
        std::int64_t end = plan.bytes;
        for (const Storage& storage : graph.storages()) {
            own_.push_back(end);
            if (storage.role != Role::transient) end += storage.bytes();
        }
    }

    Places of(std::size_t node) const {
        return {.tensor =
                    [this](Tensor tensor) {
                        const Value& value = graph_.value(tensor);
                        const Storage& storage = graph_.storages()[value.storage];
                        const std::int64_t at =
                            storage.role == Role::transient ? plan_.storage[value.storage] : own_[value.storage];
                        return static_cast<std::uint64_t>(at + bytes_of(value.offset, storage.format));
                    },
                .scratch =
                    [this, node](Scratch scratch) {
                        return MemoryRange{static_cast<std::uint64_t>(plan_.scratch[node][scratch.index]),
                                           static_cast<std::uint64_t>(scratches_[node][scratch.index]) * 4};
                    }};
    }

private:
    const Graph& graph_;
    const Plan& plan_;
    const std::vector<std::vector<std::int64_t>>& scratches_;
    std::vector<std::int64_t> own_;  // one per storage
};

/// Counts the phases that dispatches begin, as Program records them.
void count_phases(Analysis& into, const Graph& graph, const DeviceTraits& device, const Plan& plan,
                  const std::vector<std::vector<std::int64_t>>& scratches,
                  const std::vector<std::pair<std::size_t, std::vector<Dispatch>>>& lowered) {
    const Layout layout(graph, plan, scratches);
    std::map<std::string, Reflection> kernels;
    Recording recording;
    if (!device.cpu) recording.open_phases = open_phases_of_gpu;
    const std::size_t hooked = graph.hooked().empty() ? graph.nodes().size() : graph.nodes_before_hook();
    std::size_t known = 0;  // phases
    for (std::size_t i = 0; i < lowered.size(); ++i) {
        const auto& [node, dispatches] = lowered[i];
        NodeCost& cost = into.costs[i];
        if (node >= hooked && recording.segments.size() == 1) {
            recording.cut();
            known = 0;
        }
        for (const Dispatch& dispatch : dispatches) {
            const auto [at, fresh] = kernels.try_emplace(dispatch.kernel);
            if (fresh) at->second = describe_kernel(dispatch.kernel).reflection;
            std::vector<Access> list = accesses(layout.of(node), at->second.args, dispatch.args);
            for (const Access& access : list) cost.touched += static_cast<std::int64_t>(access.end - access.begin);
            recording.add({KernelLaunch{}, std::move(list)});
            const std::size_t phases = recording.segments.back().size();
            cost.phases += static_cast<std::int64_t>(phases - std::exchange(known, phases));
        }
        into.phases += cost.phases;
    }
}

}  // namespace

std::string part_of(const std::string& path) {
    std::string part;
    int levels = 0;
    for (std::size_t at = 0; at < path.size() && levels < 3; ++levels) {
        const std::size_t end = std::min(path.find('.', at), path.size());
        const std::string level = path.substr(at, end - at);
        const bool number = level.find_first_not_of("0123456789") == std::string::npos;
        part += (part.empty() ? "" : ".") + (number ? "*" : level);
        at = end + 1;
    }
    return part;
}

double Analysis::traffic() const {
    double sum = 0;
    for (const NodeCost& cost : costs) sum += cost.bytes;
    return sum;
}

Analysis analyse(Graph& graph, const DeviceTraits& given) {
    run_passes(graph, passes_for(given));
    DeviceTraits device = given;
    device.autotuner = nullptr;  // memory and work do not depend on the chosen kernel
    Analysis made;
    const LiveNodes live = live_nodes(graph);
    std::vector<std::vector<std::int64_t>> scratches(graph.nodes().size());
    std::vector<std::pair<std::size_t, std::vector<Dispatch>>> lowered_nodes;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (!live[i] || node.is_view()) continue;
        Lowered lowered = lower(graph, live, node, device);
        scratches[i] = std::move(lowered.scratches);
        made.tables += lowered.tables;
        NodeCost& cost = made.costs.emplace_back(NodeCost{part_of(node.scope), std::string(node.op->name())});
        for (const Dispatch& dispatch : lowered.dispatches) {
            cost.flops += dispatch.flops;
            cost.bytes += dispatch.bytes;
        }
        cost.dispatches = std::ssize(lowered.dispatches);
        made.flops += cost.flops;
        made.dispatches += cost.dispatches;
        lowered_nodes.emplace_back(i, std::move(lowered.dispatches));
    }
    const Plan planned = plan(graph, live, scratches, {.limit = device.buffer_bytes});
    count_phases(made, graph, device, planned, scratches, lowered_nodes);
    made.arena = planned.bytes;
    made.bound = planned.bound;
    made.states = state_bytes({&graph});
    made.constants = constant_bytes({&graph});
    const std::vector<Life> life = lives(graph, live);
    for (std::size_t s = 0; s < graph.storages().size(); ++s) {
        const Storage& storage = graph.storages()[s];
        const std::int64_t bytes = storage.bytes();
        if (storage.role != Role::transient || planned.storage[s] != no_place)
            made.largest = std::max(made.largest, bytes);
        if (storage.role == Role::input) made.inputs += one_run_at_a_time.inputs * bytes;
        if (storage.role == Role::transient && planned.storage[s] != no_place && life[s].maker)
            made.residents.push_back({life[s].maker->scope, std::string(life[s].maker->op->name()), storage.type.shape,
                                      bytes, planned.storage[s], life[s].first, life[s].last, storage.format,
                                      storage.why_f32});
    }
    for (const NamedTensor& output : graph.outputs()) {
        if (output.name == "loss") made.loss_node = life[graph.value(output.tensor).storage].first;
        made.outputs += one_run_at_a_time.outputs * bytes_of(output.tensor.elements(), output.tensor.format());
    }
    std::stable_sort(made.residents.begin(), made.residents.end(),
                     [](const Resident& a, const Resident& b) { return a.bytes > b.bytes; });
    return made;
}

Analysis analyse(StepGraphs& graphs, const DeviceTraits& device) {
    Analysis sum = analyse(graphs.step, device);
    for (const GradientBucket& bucket : graphs.buckets)
        sum.gradients += (graphs.update ? 2 : 1) * bytes_of(bucket.layout.elements, Format::f32);
    const auto times = static_cast<double>(graphs.micro_batches);
    for (NodeCost& cost : sum.costs) {
        cost.flops *= times, cost.bytes *= times;
        for (std::int64_t* count : {&cost.dispatches, &cost.phases, &cost.touched}) *count *= graphs.micro_batches;
    }
    sum.flops *= times;
    sum.dispatches *= graphs.micro_batches;
    sum.phases *= graphs.micro_batches;
    const auto overlap = [](Analysis& analysis) {
        analysis.inputs = analysis.inputs / one_run_at_a_time.inputs * overlapping_runs.inputs;
        analysis.outputs = analysis.outputs / one_run_at_a_time.outputs * overlapping_runs.outputs;
    };
    overlap(sum);
    if (!graphs.update) return sum;
    Analysis update = analyse(*graphs.update, device);
    overlap(update);
    sum.costs.insert(sum.costs.end(), update.costs.begin(), update.costs.end());
    sum.flops += update.flops;
    sum.dispatches += update.dispatches;
    sum.phases += update.phases;
    sum.arena = std::max(sum.arena, update.arena);
    sum.bound = std::max(sum.bound, update.bound);
    sum.largest = std::max(sum.largest, update.largest);
    sum.states = state_bytes({&graphs.step, &*graphs.update});
    sum.constants = constant_bytes({&graphs.step, &*graphs.update});
    sum.inputs += update.inputs;
    sum.outputs += update.outputs;
    sum.tables += update.tables;
    return sum;
}

Analysis analyse_run(const LossGraph& loss, const LossGraph& evaluation, const TrainerConfig& config,
                     const TraitsFor& traits_for) {
    StepGraphs graphs(loss, config);
    Analysis sum = analyse(graphs, traits_for(graphs.step));
    Graph graph;
    graph.activations = config.evaluated_activations();
    graph.output("loss", evaluation(Scope(graph, graphs.parameters)));
    narrow_frozen(graph, graphs.parameters, config.frozen);
    const Analysis evaluated = analyse(graph, traits_for(graph));
    sum.arena = std::max(sum.arena, evaluated.arena);
    sum.largest = std::max(sum.largest, evaluated.largest);
    sum.inputs += evaluated.inputs;
    sum.outputs += evaluated.outputs;
    sum.tables += evaluated.tables;
    return sum;
}

Analysis analyse_together(std::span<const std::function<void(const Scope&)>> programs, Format activations,
                          const TraitsFor& traits_for) {
    Analysis sum;
    Parameters parameters;
    std::deque<Graph> graphs;  // a graph stays where it is
    std::vector<const Graph*> all;
    for (const auto& program : programs) {
        Graph& graph = graphs.emplace_back();
        graph.activations = activations;
        program(Scope(graph, parameters));
        const Analysis one = analyse(graph, traits_for(graph));
        sum.flops += one.flops;
        sum.arena += one.arena;
        sum.bound += one.bound;
        sum.inputs += one.inputs;
        sum.outputs += one.outputs;
        sum.tables += one.tables;
        sum.largest = std::max(sum.largest, one.largest);
        all.push_back(&graph);
    }
    sum.states = state_bytes(all);
    sum.constants = constant_bytes(all);
    return sum;
}

Analysis analyse_reading(const ModelConfig& config, Format activations, std::int64_t length, std::int64_t positions,
                         const DeviceTraits& device, std::int64_t rows) {
    Graph graph;
    graph.activations = activations;
    Parameters parameters;
    prefill_chunk(Scope(graph, parameters), config, length, activations, rows, positions);
    return analyse(graph, device);
}

}  // namespace vkf
