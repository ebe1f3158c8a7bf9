#include "ops/movement/flatten.h"

#include <algorithm>

#include "base/error.h"
#include "ops/movement/view.h"
#include "ops/optimizer/tensor_chunks.h"

namespace vkf {

namespace {

constexpr std::int64_t alignment = 64;  // elements

std::int64_t aligned(std::int64_t elements) {
    return (elements + alignment - 1) / alignment * alignment;
}

class FlattenOp : public Op {
public:
    explicit FlattenOp(FlatLayout layout) : layout_(std::move(layout)) {}

    std::string_view name() const override { return "flatten"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (std::size_t i = 0; i < in.size(); ++i) {
            const TensorType wanted{DType::f32, layout_.shapes[i]}, absent{DType::f32, {0}};
            require(in[i] == wanted || in[i] == absent, "tensor ", i, " is ", in[i], ", wanted ", wanted);
        }
        return {{DType::f32, {layout_.elements}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < in.size(); ++i) std::ranges::copy(in[i].at, out[0].at.begin() + layout_.offsets[i]);
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        std::vector<Tensor> d_in = unflatten(at.d_out[0], layout_);
        for (std::size_t i = 0; i < d_in.size(); ++i)
            if (!at.wanted[i]) d_in[i] = {};
        return d_in;
    }

    /// One dispatch for all that is missing: tensors computed elsewhere, and zeros up to the start of the next tensor.
    void lower(Lowering& lowering) const override {
        std::vector<Tensor> from;
        std::vector<std::uint32_t> counts, offsets;
        std::vector<std::int64_t> sizes;
        for (std::size_t i = 0; i < lowering.in.size(); ++i) {
            const bool copied = lowering.in[i] && !in_place(lowering, i);
            const std::int64_t elements = layout_.shapes[i].elements(),
                               there = lowering.in[i] && !copied ? elements : 0;
            if (there == aligned(elements)) continue;
            from.push_back(copied ? lowering.in[i] : Tensor());
            counts.push_back(copied ? checked_u32(elements) : 0);
            offsets.push_back(checked_u32(layout_.offsets[i] + there));
            sizes.push_back(aligned(elements) - there);
        }
        if (from.empty()) return;
        const TensorChunks parts = cut(lowering.device, sizes);
        lowering.dispatch({.kernel = "flatten",
                           .constants = {{"GROUP", parts.group}},
                           .args = {{"rows", Table{{{"x", from}, {"count", counts}, {"first", offsets}}}},
                                    {"parts", parts.table()},
                                    {"groups", parts.groups()},
                                    {"y", lowering.out[0]}},
                           .groups = parts.groups(),
                           .bytes = 8 * parts.elements});
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.flat_offsets = layout_.offsets}; }

private:
    bool in_place(const Lowering& lowering, std::size_t i) const {
        const Value &part = lowering.out[0].graph().value(lowering.in[i]),
                    &flat = lowering.out[0].graph().value(lowering.out[0]);
        return part.storage == flat.storage && part.offset == flat.offset + layout_.offsets[i];
    }

    FlatLayout layout_;
};

class UnflattenOp : public Op {
public:
    explicit UnflattenOp(FlatLayout layout) : layout_(std::move(layout)) {}

    std::string_view name() const override { return "unflatten"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType wanted{DType::f32, {layout_.elements}};
        require(in[0] == wanted, "the flat tensor is ", in[0], ", wanted ", wanted);
        std::vector<TensorType> out;
        for (const Shape& shape : layout_.shapes) out.push_back({DType::f32, shape});
        return out;
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < out.size(); ++i)
            std::copy_n(in[0].at.begin() + layout_.offsets[i], out[i].at.size(), out[i].at.begin());
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{flatten(at.d_out, layout_)};
    }

    void lower(Lowering&) const override {}

    std::optional<View> view(std::span<const Tensor>, std::size_t output) const override {
        return View{layout_.offsets[output], layout_.shapes[output].width()};
    }

private:
    FlatLayout layout_;
};

}  // namespace

FlatLayout::FlatLayout(const std::vector<Shape>& parameters) {
    for (const Shape& shape : parameters) append(shape);
}

std::int64_t FlatLayout::elements_with(const Shape& shape) const {
    return elements + aligned(shape.elements());
}

void FlatLayout::append(const Shape& shape) {
    offsets.push_back(elements);
    elements = elements_with(shape);
    shapes.push_back(shape);
}

Tensor flatten(std::span<const Tensor> tensors, const FlatLayout& layout) {
    require(tensors.size() == layout.shapes.size(), "flatten: ", tensors.size(), " tensors, the layout has ",
            layout.shapes.size());
    const auto there = std::ranges::find_if(tensors, [](const Tensor& tensor) { return static_cast<bool>(tensor); });
    require(there != tensors.end(), "flatten: there are no tensors");
    std::vector<Tensor> in;
    for (const Tensor& tensor : tensors) in.push_back(tensor ? contiguous(tensor) : Tensor());
    return add_one(there->graph(), FlattenOp(layout), std::move(in));
}

std::vector<Tensor> unflatten(Tensor flat, const FlatLayout& layout) {
    return flat.graph().add(std::make_shared<const UnflattenOp>(layout), {contiguous(flat)});
}

}  // namespace vkf
