#include "graph/lower.h"

namespace vkf {

namespace {

/// A dispatch's operands in the bytes they have, over those they would have in 32 bits.
double share_of_traffic(const Dispatch& dispatch) {
    std::int64_t bytes = 0, whole = 0;
    const auto add = [&](std::int64_t elements, Format format) {
        bytes += bytes_of(elements, format);
        whole += bytes_of(elements, Format::f32);
    };
    for (const auto& [name, value] : dispatch.args) {
        if (const auto* tensor = std::get_if<Tensor>(&value); tensor && *tensor)
            add(tensor->elements(), tensor->format());
        if (const auto* table = std::get_if<Table>(&value))
            for (const auto& [column, cells] : table->columns)
                if (const auto* tensors = std::get_if<std::vector<Tensor>>(&cells))
                    for (const Tensor& tensor : *tensors)
                        if (tensor) add(tensor.elements(), tensor.format());
        if (const auto* section = std::get_if<Section>(&value)) {
            const auto* of = std::get_if<Tensor>(&section->of);
            add(section->count, of ? of->format() : Format::f32);
        }
    }
    return whole > 0 ? static_cast<double>(bytes) / static_cast<double>(whole) : 1.0;
}

/// Of its tables.
std::int64_t table_bytes(const Dispatch& dispatch) {
    std::int64_t bytes = 0;
    for (const auto& [name, value] : dispatch.args)
        if (const auto* table = std::get_if<Table>(&value)) bytes += table->bytes();
    return bytes;
}

}  // namespace

Lowered lower(const Graph& graph, const std::vector<bool>& live, const Node& node, const DeviceTraits& device) {
    const std::vector<Tensor> out = outputs_to_make(graph, live, node);
    Lowering lowering{node.in, out, device, {}, {}};
    node.op->lower(lowering);
    Lowered made{std::move(lowering.dispatches), std::move(lowering.scratches)};
    for (Dispatch& dispatch : made.dispatches) {
        dispatch.bytes *= share_of_traffic(dispatch);
        made.tables += table_bytes(dispatch);
    }
    return made;
}

}  // namespace vkf
