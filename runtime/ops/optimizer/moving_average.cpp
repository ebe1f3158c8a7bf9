// Exponential moving averages of weights.
#include "ops/optimizer/moving_average.h"

#include "base/error.h"
#include "ops/movement/view.h"
#include "ops/optimizer/tensor_chunks.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Inputs: averages, as many values, the clip factor. Outputs: the new averages, in place.
class MovingAverageOp : public Op {
public:
    MovingAverageOp(std::size_t count, double decay) : count_(count), weight_(static_cast<float>(1 - decay)) {}

    std::string_view name() const override { return "moving_average"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (std::size_t i = 0; i < count_; ++i) {
            require(in[i].dtype == DType::f32, "wants f32, not ", in[i]);
            require(in[i] == in[count_ + i], "cannot average ", in[count_ + i], " into ", in[i]);
        }
        require(in.back() == TensorType{DType::f32, {}}, "the clip factor is ", in.back(), ", wanted f32[]");
        return {in.begin(), in.begin() + static_cast<std::ptrdiff_t>(count_)};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const double weight = in.back().at[0] < 0 ? 0.0 : static_cast<double>(weight_);
        for (std::size_t k = 0; k < count_; ++k)
            for (std::size_t i = 0; i < out[k].at.size(); ++i)
                out[k].at[i] = in[k].at[i] + weight * (in[count_ + k].at[i] - in[k].at[i]);
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::vector<Tensor> averages(lowering.in.begin(),
                                           lowering.in.begin() + static_cast<std::ptrdiff_t>(count_));
        const std::vector<Tensor> values(lowering.in.begin() + static_cast<std::ptrdiff_t>(count_),
                                         lowering.in.end() - 1);
        const TensorChunks parts = cut(lowering.device, averages);
        lowering.dispatch({.kernel = "moving_average",
                           .constants = {{"GROUP", parts.group}, {"LAYOUT", vector_layout(lowering.in)}},
                           .args = {{"rows", Table{{{"average", averages}, {"x", values}}}},
                                    {"parts", parts.table()},
                                    {"groups", parts.groups()},
                                    {"clip", lowering.in.back()},
                                    {"weight", weight_}},
                           .groups = parts.groups(),
                           .flops = 3 * parts.elements,
                           .bytes = 12 * parts.elements});
    }

    std::optional<std::size_t> updates(std::size_t output) const override { return output; }

private:
    std::size_t count_;
    float weight_;  // of the value; rounded from double, because 1 − 0.9999f has a relative error of 1e-4
};

}  // namespace

std::vector<Tensor> moving_average(std::span<const Tensor> averages, std::span<const Tensor> values, Tensor clip,
                                   double decay) {
    require(averages.size() == values.size(), "moving_average: ", averages.size(), " averages, ", values.size(),
            " values");
    require(decay >= 0 && decay < 1, "moving_average: the decay is ", decay, ", wanted at least 0 and below 1");
    std::vector<Tensor> in(averages.begin(), averages.end());
    for (const Tensor& value : values) in.push_back(contiguous(value));
    in.push_back(clip);
    return clip.graph().add(std::make_shared<const MovingAverageOp>(averages.size(), decay), std::move(in));
}

}  // namespace vkf
