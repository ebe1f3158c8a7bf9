#include "apps/analysis.h"

#include <algorithm>

#include "apps/common.h"
#include "ops/backward.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

/// Where a storage is made and last used; nodes are counted in the graph's order.
struct Life {
    const Node* maker = nullptr;
    std::size_t first = 0, last = 0;
};

std::vector<Life> lives(const Graph& graph, const std::vector<bool>& live) {
    std::vector<Life> made(graph.storages().size());
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        if (!live[i]) continue;
        const Node& node = graph.nodes()[i];
        for (const Tensor& out : node.out) {
            Life& life = made[graph.value(out).storage];
            if (!life.maker) life = {&node, i, i};
            life.last = i;
        }
        for (const Tensor& in : node.in)
            if (in) made[graph.value(in).storage].last = i;
    }
    for (const NamedTensor& output : graph.outputs())
        made[graph.value(output.tensor).storage].last = graph.nodes().size();
    return made;
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

std::string lacking_memory(const Device& device, const Analysis& analysis) {
    const auto needed = static_cast<double>(analysis.bytes()),
               present = static_cast<double>(device.info().memory_bytes);
    if (needed <= present) return {};
    return text("needs ", bytes_text(needed), " of memory, the device has ", bytes_text(present));
}

void describe_step(Graph& graph, Parameters& parameters, const LossGraph& loss_graph,
                   const OptimizerConfig& optimizer) {
    const Tensor loss = loss_graph(Scope(graph, parameters));
    graph.output("loss", loss);
    std::vector<Tensor> list;
    for (const Parameter& parameter : parameters.list()) list.push_back(parameter.tensor);
    const std::vector<Tensor> d = gradients(loss, list);
    graph.scope = "update";
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    graph.output("grad_norm", append_update(parameters.list(), d, rates, optimizer));
}

Analysis analyse(const Graph& graph, const DeviceTraits& device) {
    Analysis made;
    const std::vector<bool> live = live_nodes(graph);
    std::vector<std::vector<std::int64_t>> scratches(graph.nodes().size());
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (!live[i] || node.is_view()) continue;
        Lowering lowering{node.in, node.out, device, {}, {}};
        node.op->lower(lowering);
        scratches[i] = lowering.scratches;
        NodeCost& cost = made.costs.emplace_back(NodeCost{part_of(node.scope)});
        for (const Dispatch& dispatch : lowering.dispatches) {
            cost.flops += dispatch.flops;
            cost.bytes += dispatch.bytes;
        }
        made.flops += cost.flops;
        made.dispatches += std::ssize(lowering.dispatches);
    }
    const Plan planned = plan(graph, live, scratches);
    made.arena = planned.bytes;
    made.bound = planned.bound;
    const std::vector<Life> life = lives(graph, live);
    for (std::size_t s = 0; s < graph.storages().size(); ++s) {
        const Storage& storage = graph.storages()[s];
        const std::int64_t bytes = storage.type.shape.elements() * 4;
        if (storage.role == Role::state) made.states += bytes;
        if (storage.role == Role::input) made.inputs += bytes;
        if (storage.role == Role::transient && planned.storage[s] != no_place && life[s].maker)
            made.residents.push_back({life[s].maker->scope, std::string(life[s].maker->op->name()), storage.type.shape,
                                      bytes, planned.storage[s], life[s].first, life[s].last});
    }
    for (const NamedTensor& output : graph.outputs()) made.outputs += output.tensor.elements() * 4;
    std::stable_sort(made.residents.begin(), made.residents.end(),
                     [](const Resident& a, const Resident& b) { return a.bytes > b.bytes; });
    return made;
}

}  // namespace vkf
