// What surrounds an optimiser's step: adding gradients up, their norm over all parameters, and the factor that clips
// it.

#include <algorithm>
#include <cmath>

#include "ops/ops.h"
#include "ops/pack.h"

namespace vkf {

namespace {

/// Outputs the norm of all inputs together and the factor that brings it down to the limit; -1 where it is not finite.
class GlobalNormOp : public Op {
public:
    explicit GlobalNormOp(float limit) : limit_(limit) {}

    std::string_view name() const override { return "global_norm"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (const TensorType& type : in) require(type.dtype == DType::f32, "wants f32, not ", type);
        return {{DType::f32, {}}, {DType::f32, {}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        double sum = 0;
        for (const Array& array : in)
            for (const double x : array.at) sum += x * x;
        const double norm = std::sqrt(sum), ratio = static_cast<double>(limit_) / (norm + 1e-6);
        out[0].at[0] = norm;
        // As the kernel sees it, in fp32.
        const bool good = std::isfinite(static_cast<float>(norm));
        out[1].at[0] = !good ? -1.0 : limit_ == 0.0f || ratio >= 1 ? 1.0 : ratio;
        return true;
    }

    void lower(Lowering& to) const override {
        constexpr std::size_t capacity = 8;
        std::vector<Sweep> grids;
        std::uint64_t partials = 0;
        for (std::size_t first = 0; first < to.in.size(); first += capacity) {
            grids.push_back(pack_sweep(to.device, pack(to, first, capacity)));
            // Bounds how many squares one invocation adds up one after the other.
            const std::uint32_t most = 1024 * grids.back().group;
            if (grids.back().per_group > most) {
                grids.back().per_group = most;
                grids.back().groups = 0;
                for (const Tensor& tensor : pack(to, first, capacity))
                    grids.back().groups += pack_groups(grids.back(), tensor);
            }
            partials += grids.back().groups;
        }
        const Scratch scratch = to.scratch(static_cast<std::int64_t>(partials));
        std::uint64_t before = 0;
        for (std::size_t k = 0; k < grids.size(); ++k) {
            const std::span<const Tensor> tensors = pack(to, k * capacity, capacity);
            Args args{{"partials", scratch},
                      {"first", extent(static_cast<std::int64_t>(before))},
                      {"per_group", grids[k].per_group}};
            pack_tensors(args, "x", tensors, capacity);
            pack_counts(args, tensors, capacity);
            double count = 0;
            for (const Tensor& tensor : tensors) count += static_cast<double>(tensor.elements());
            to.dispatch({.kernel = "square_sum",
                         .constants = {{"GROUP", grids[k].group}, {"PAIR", pair_form(tensors)}},
                         .args = std::move(args),
                         .groups = grids[k].groups,
                         .flops = 2 * count,
                         .bytes = 4 * count});
            before += grids[k].groups;
        }
        to.dispatch({.kernel = "norm_clip",
                     .constants = {{"GROUP", row_group(to.device, static_cast<std::int64_t>(partials))}},
                     .args = {{"partials", scratch},
                              {"norm", to.out[0]},
                              {"clip", to.out[1]},
                              {"count", extent(static_cast<std::int64_t>(partials))},
                              {"limit", limit_}},
                     .flops = static_cast<double>(partials),
                     .bytes = 4 * static_cast<double>(partials)});
    }

private:
    static std::span<const Tensor> pack(const Lowering& to, std::size_t first, std::size_t capacity) {
        return to.in.subspan(first, std::min(capacity, to.in.size() - first));
    }

    float limit_;
};

/// Inputs: targets, then as many values (or none: the targets become 0). Outputs: the new targets, in place.
class AccumulateOp : public Op {
public:
    static constexpr std::size_t capacity = 6;

    AccumulateOp(std::size_t targets, float factor) : targets_(targets), factor_(factor) {}

    std::string_view name() const override { return factor_ == 0.0f ? "zero" : "accumulate"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (std::size_t i = 0; i < targets_; ++i) {
            require(in[i].dtype == DType::f32, "wants f32, not ", in[i]);
            require(factor_ == 0.0f || in[i] == in[targets_ + i], "cannot add ", in.back(), " to ", in[i]);
        }
        return {in.begin(), in.begin() + static_cast<std::ptrdiff_t>(targets_)};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        if (factor_ == 0.0f) return true;
        for (std::size_t k = 0; k < targets_; ++k)
            for (std::size_t i = 0; i < out[k].at.size(); ++i)
                out[k].at[i] = in[k].at[i] + static_cast<double>(factor_) * in[targets_ + k].at[i];
        return true;
    }

    void lower(Lowering& to) const override {
        const std::span<const Tensor> targets = to.in.first(targets_);
        const Sweep grid = pack_sweep(to.device, targets);
        Args args{{"per_group", grid.per_group}, {"factor", factor_}};
        pack_tensors(args, "y", targets, capacity);
        pack_tensors(args, "x", to.in.subspan(targets_), capacity);
        pack_counts(args, targets, capacity);
        double count = 0;
        for (const Tensor& target : targets) count += static_cast<double>(target.elements());
        to.dispatch({.kernel = "accumulate",
                     .constants = {{"GROUP", grid.group}, {"ZERO", factor_ == 0.0f}, {"PAIR", pair_form(to.in)}},
                     .args = std::move(args),
                     .groups = grid.groups,
                     .flops = 2 * count,
                     .bytes = (factor_ == 0.0f ? 4 : 12) * count});
    }

    std::optional<std::size_t> updates(std::size_t output) const override { return output; }

private:
    std::size_t targets_;
    float factor_;
};

std::vector<Tensor> in_packs(std::span<const Tensor> targets, std::span<const Tensor> values, float factor) {
    std::vector<Tensor> updated;
    for (std::size_t first = 0; first < targets.size(); first += AccumulateOp::capacity) {
        const std::size_t count = std::min(AccumulateOp::capacity, targets.size() - first);
        std::vector<Tensor> in(targets.begin() + static_cast<std::ptrdiff_t>(first),
                               targets.begin() + static_cast<std::ptrdiff_t>(first + count));
        for (std::size_t i = first; i < first + count && factor != 0.0f; ++i) in.push_back(contiguous(values[i]));
        for (const Tensor& out :
             targets[0].graph().add(std::make_shared<const AccumulateOp>(count, factor), std::move(in)))
            updated.push_back(out);
    }
    return updated;
}

}  // namespace

GlobalNorm global_norm(std::span<const Tensor> gradients, float limit) {
    require(!gradients.empty(), "global_norm: there are no gradients");
    require(limit >= 0.0f, "global_norm: the limit is ", limit);
    std::vector<Tensor> in;
    for (const Tensor& gradient : gradients) in.push_back(contiguous(gradient));
    const std::vector<Tensor> out = in[0].graph().add(std::make_shared<const GlobalNormOp>(limit), in);
    return {out[0], out[1]};
}

std::vector<Tensor> add_into(std::span<const Tensor> targets, std::span<const Tensor> values, float factor) {
    require(targets.size() == values.size() && factor != 0.0f, "add_into: ", targets.size(), " targets, ",
            values.size(), " values, factor ", factor);
    return in_packs(targets, values, factor);
}

std::vector<Tensor> zero(std::span<const Tensor> targets) {
    return in_packs(targets, {}, 0.0f);
}

}  // namespace vkf
