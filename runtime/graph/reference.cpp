#include "graph/reference.h"

#include <algorithm>

#include "base/error.h"
#include "base/half.h"

namespace vkf {

namespace {

std::vector<Array> expand_and_interpret(const Op& op, std::span<const Array> in, std::span<const TensorType> types) {
    Graph plain;
    Arrays leaves;
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (types[i].shape == Shape{0}) {
            inputs.emplace_back();
            continue;
        }
        const std::string name = text("in", i);
        inputs.push_back(plain.input(name, types[i]));
        leaves[name] = in[i];
    }
    const std::vector<Tensor> outputs = op.expand(inputs);
    require(!outputs.empty(), op.name(), " has neither a reference nor an expansion");
    for (std::size_t i = 0; i < outputs.size(); ++i) plain.output(text("out", i), outputs[i]);
    Arrays results = interpret(plain, leaves);
    std::vector<Array> out;
    for (std::size_t i = 0; i < outputs.size(); ++i) out.push_back(std::move(results.at(text("out", i))));
    return out;
}

template <class Number>
std::vector<double> numbers(std::span<const std::byte> bytes) {
    std::vector<Number> values(bytes.size() / sizeof(Number));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
    return {values.begin(), values.end()};
}

/// Values of a constant.
Array values_of(const Storage& storage) {
    const bool real = storage.type.dtype == DType::f32;
    return {storage.type.shape, real ? numbers<float>(*storage.values) : numbers<std::int32_t>(*storage.values)};
}

/// Rounds to the numbers that a storage of this format can hold.
void round(Array& array, Format format) {
    if (format == Format::f32) return;
    for (double& x : array.at) {
        const auto value = static_cast<float>(x);
        x = static_cast<double>(format == Format::bf16 ? from_bfloat16(to_bfloat16(value)) : from_half(to_half(value)));
    }
}

}  // namespace

std::vector<Array> evaluate(const Op& op, std::span<const Array> in, std::span<const TensorType> types) {
    std::vector<Array> out;
    for (const TensorType& type : op.infer(types))
        out.push_back({type.shape, std::vector<double>(static_cast<std::size_t>(type.shape.elements()), 0.0)});
    return op.reference(in, out) ? out : expand_and_interpret(op, in, types);
}

Arrays interpret(const Graph& graph, const Arrays& leaves) {
    std::vector<Array> values(graph.values().size());
    std::vector<bool> is_made(graph.values().size()), is_read(graph.values().size());
    const LiveNodes live = live_nodes(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        for (const Tensor& out : graph.nodes()[i].out) is_made[out.id()] = true;
        for (const Tensor& in : graph.nodes()[i].in)
            if (in && live[i]) is_read[in.id()] = true;
    }
    for (const NamedTensor& output : graph.outputs()) is_read[output.tensor.id()] = true;
    for (std::size_t id = 0; id < values.size(); ++id) {
        if (is_made[id] || !is_read[id]) continue;
        const Storage& storage = graph.storages()[graph.values()[id].storage];
        if (storage.role == Role::constant) {
            values[id] = values_of(storage);
            continue;
        }
        const auto given = leaves.find(storage.name);
        require(given != leaves.end(), "interpret: no array for '", storage.name, "'");
        require(given->second.shape == storage.type.shape, "interpret: '", storage.name, "' is ", storage.type.shape,
                ", given ", given->second.shape);
        values[id] = given->second;
        round(values[id], storage.format);
    }
    Arrays results;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        if (!live[i]) continue;
        const Node& node = graph.nodes()[i];
        std::vector<Array> in;
        std::vector<TensorType> types;
        for (const Tensor& tensor : node.in) {
            in.push_back(tensor ? values[tensor.id()] : Array{{0}, {}});
            types.push_back(tensor ? tensor.type() : TensorType{DType::f32, {0}});
        }
        std::vector<Array> out = evaluate(*node.op, in, types);
        for (std::size_t k = 0; k < out.size(); ++k) {
            round(out[k], node.out[k].format());
            if (node.op->updates(k)) results[graph.storage(node.out[k]).name] = out[k];
            values[node.out[k].id()] = std::move(out[k]);
        }
    }
    for (const NamedTensor& output : graph.outputs()) results[output.name] = values[output.tensor.id()];
    return results;
}

}  // namespace vkf
