// Products of one matrix that has few rows. Inputs: a, then b and bias of each product.
#include "ops/matmul/grouped_matmul.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/cpu/grouped_decode.h"
#include "ops/matmul/gemm.h"

namespace vkf {

namespace {

constexpr std::size_t matmul_inputs = 5;  // a, b, bias, aux, row_scale
constexpr std::string_view unrolled = "matmul_decode_unrolled";

bool absent(const ArgValue& value) {
    return std::holds_alternative<std::monostate>(value);
}

class GroupedMatmulOp : public Op {
public:
    explicit GroupedMatmulOp(std::vector<std::shared_ptr<const Op>> each) : each_(std::move(each)) {}

    std::string_view name() const override { return "grouped_matmul"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        std::vector<TensorType> y;
        for (std::size_t i = 0; i < each_.size(); ++i) {
            const TensorType none{DType::f32, {0}};
            y.push_back(each_[i]->infer(std::array{in[0], in[1 + 2 * i], in[2 + 2 * i], none, none}).front());
        }
        return y;
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const Array none{{0}, {}};
        for (std::size_t i = 0; i < each_.size(); ++i)
            if (!each_[i]->reference(std::array{in[0], in[1 + 2 * i], in[2 + 2 * i], none, none}, out.subspan(i, 1)))
                return false;
        return true;
    }

    /// One launch on a CPU, or one per three products if unrolled; one launch per product if k is cut or the products
    /// differ in layout or kernel, and on GPUs, which overlap independent launches and must cut k to be busy.
    void lower(Lowering& lowering) const override {
        std::vector<GemmCall> calls;
        for (std::size_t i = 0; i < each_.size(); ++i)
            calls.push_back(*gemm_call(*each_[i], inputs(lowering.in, i), lowering.out[i]));
        const GemmCall& first = calls.front();
        GemmShape all = first.shape;
        all.n = 0;
        for (const GemmCall& call : calls) all.n += call.shape.n;
        // The kernel is the one that each product would use alone, so that the results have the same bits.
        const auto unrolls = [&](const GemmCall& call) {
            return gemm_configs(lowering.device, call.shape).front().kernel == unrolled;
        };
        DeviceTraits device = lowering.device;
        device.uniform_loads = unrolls(first);
        const KernelConfig config = gemm_configs(device, all).front();
        const bool alike = std::ranges::all_of(calls, [&](const GemmCall& call) {
            return call.layout_b == first.layout_b && unrolls(call) == device.uniform_loads &&
                   (!device.uniform_loads || call.b_at.pitch == first.b_at.pitch);
        });
        if (groups_products(device, config) && alike) return append_grouped_decode(lowering, calls, config);
        std::optional<Scratch> parts;
        for (const GemmCall& call : calls) append_gemm(lowering, call, parts);
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        std::uint32_t factors = 1u;
        for (std::size_t i = 1; i < in.size(); i += 2) factors |= 1u << i;
        return {.half_in = factors, .gemm_operands = factors};
    }

private:
    static std::array<Tensor, matmul_inputs> inputs(std::span<const Tensor> in, std::size_t i) {
        return {in[0], in[1 + 2 * i], in[2 + 2 * i]};
    }

    std::vector<std::shared_ptr<const Op>> each_;
};

}  // namespace

std::optional<GroupKey> group_key(const Node& node) {
    const std::optional<GemmCall> call = gemm_call(*node.op, node.in, Tensor());
    if (!call || !is_decode(call->shape) || call->shape.batches != 1 || !absent(call->aux) ||
        !absent(call->row_scale.at) || call->alpha != 1.0f || call->activation != Activation::none)
        return std::nullopt;
    return GroupKey{node.in[0].id(), call->shape.transpose_b, !absent(call->bias)};
}

Node grouped(std::span<const Node* const> products) {
    const Node& first = *products.front();
    Node made{.op = nullptr, .in = {first.in[0]}, .out = {}, .scope = first.scope};
    std::vector<std::shared_ptr<const Op>> each;
    for (const Node* node : products) {
        each.push_back(node->op);
        made.in.insert(made.in.end(), {node->in[1], node->in[2]});
        made.out.push_back(node->out[0]);
    }
    made.op = std::make_shared<const GroupedMatmulOp>(std::move(each));
    return made;
}

}  // namespace vkf
