#include "checks/case_graph.h"

#include <random>
#include <utility>

#include "base/error.h"
#include "base/half.h"
#include "graph/lower.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::checks {

namespace {

/// x, or, if values are stored in 16 bits, a copy of x that may be stored in them.
Tensor narrowable(Tensor x) {
    return x.graph().activations == Format::f32 || x.dtype() != DType::f32 ? x : scale(x, 1.0f);
}

/// Copy of a tensor that can be an output: dense, and not a view of an input.
Tensor computed(Tensor tensor) {
    const Tensor dense = contiguous(tensor);
    return dense.graph().storage(dense).role == Role::transient ? narrowable(dense) : scale(dense, 1.0f);
}

}  // namespace

CaseGraph::CaseGraph(const OpCase& c, bool with_gradients, Format format) : leaves(draw(c)) {
    graph.activations = format;
    std::vector<Tensor> whole, operands;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
        const Operand& operand = c.operands[i];
        whole.push_back(graph.input(
            text('x', i),
            {operand.type.dtype, operand.type.shape.with_width(operand.type.shape.width() + operand.padding)}));
        const Tensor x = kept[text('x', i)] = narrowable(whole[i]);
        operands.push_back(operand.padding ? slice(x, -1, 0, operand.type.shape.width()) : x);
    }
    const std::vector<Tensor> outputs = c.build(operands);
    for (std::size_t k = 0; k < outputs.size(); ++k) graph.output(text('y', k), computed(outputs[k]));
    if (!with_gradients) return;
    std::vector<Tensor> seeds, wrt;
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        const std::string name = text('w', k);
        seeds.push_back(kept[name] = narrowable(graph.input(name, outputs[k].type())));
        Array& weights = leaves[name] = {outputs[k].shape(), {}};
        for (std::int64_t j = 0; j < outputs[k].elements(); ++j)
            weights.at.push_back(static_cast<double>(static_cast<float>(normal(random))));
    }
    for (std::size_t i = 0; i < c.operands.size(); ++i)
        if (c.operands[i].differentiate && c.operands[i].type.dtype == DType::f32) wrt.push_back(operands[i]);
    const std::vector<Tensor> found = gradients(outputs, seeds, wrt);
    std::size_t next = 0;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
        if (!c.operands[i].differentiate || c.operands[i].type.dtype != DType::f32) continue;
        const Tensor gradient = found[next++];
        if (!gradient) throw Error("no gradient reaches operand ", i);
        gradient_names.push_back(text("d_x", i));
        graph.output(gradient_names.back(), computed(gradient));
    }
}

std::vector<OpDispatch> dispatches_of(const CaseGraph& graph, const DeviceTraits& device) {
    const LiveNodes live = live_nodes(graph.graph);
    std::vector<OpDispatch> list;
    for (std::size_t i = 0; i < graph.graph.nodes().size(); ++i) {
        const Node& node = graph.graph.nodes()[i];
        if (!live[i] || node.is_view()) continue;
        for (Dispatch& dispatch : lower(graph.graph, live, node, device).dispatches)
            list.push_back({std::string(node.op->name()), std::move(dispatch)});
    }
    return list;
}

Arrays as_kept(const CaseGraph& made) {
    Arrays arrays = made.leaves;
    for (auto& [name, array] : arrays) {
        const Format format = made.kept.at(name).format();
        if (format == Format::f32) continue;
        for (double& x : array.at) {
            const auto value = static_cast<float>(x);
            x = static_cast<double>(format == Format::bf16 ? from_bfloat16(to_bfloat16(value))
                                                           : from_half(to_half(value)));
        }
    }
    return arrays;
}

}  // namespace vkf::checks
