#include "graph/lower.h"

#include "base/error.h"

namespace vkf {

namespace {

/// Bytes of a dispatch's operands, divided by their bytes if all had 32 bits.
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

/// Bytes of the dispatch's tables.
std::int64_t table_bytes(const Dispatch& dispatch) {
    std::int64_t bytes = 0;
    for (const auto& [name, value] : dispatch.args)
        if (const auto* table = std::get_if<Table>(&value)) bytes += table->padded_bytes();
    return bytes;
}

/// Throws Error naming the operand if one is kept in 16 bits but the kernels take it only in 32 bits.
void require_formats(const Node& node) {
    const KernelTraits taken = node.op->kernel_traits(node.in);
    bool all = true, none = true;
    const auto look = [&](const char* side, std::size_t k, Tensor tensor, std::uint32_t bits) {
        if (!tensor) return;
        const bool listed = k < 32 && (bits >> k & 1) != 0, narrow = tensor.format() != Format::f32;
        if (narrow && !listed)
            throw Error(node.scope, node.scope.empty() ? "" : ": ", node.op->name(), ": ", side, k, " is ",
                        tensor.type(), kept(tensor.format()), ", which its kernels do not take");
        if (!listed) return;
        all = all && narrow;
        none = none && !narrow;
    };
    for (std::size_t k = 0; k < node.in.size(); ++k) look("input ", k, node.in[k], taken.half_in);
    for (std::size_t k = 0; k < node.out.size(); ++k) look("output ", k, node.out[k], taken.half_out);
    if (taken.uniform && !all && !none)
        throw Error(node.scope, node.scope.empty() ? "" : ": ", node.op->name(),
                    ": some of its operands are kept in 16 bits, wanted all or none");
}

}  // namespace

Lowered lower(const Graph& graph, const LiveNodes& live, const Node& node, const DeviceTraits& device) {
    const std::vector<Tensor> out = outputs_to_make(graph, live, node);
    Lowering lowering{node.in, out, device, {}, {}};
    require_formats(node);
    node.op->lower(lowering);
    Lowered made{std::move(lowering.dispatches), std::move(lowering.scratches)};
    for (Dispatch& dispatch : made.dispatches) {
        dispatch.bytes *= share_of_traffic(dispatch);
        made.tables += table_bytes(dispatch);
    }
    return made;
}

}  // namespace vkf
