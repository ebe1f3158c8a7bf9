// Both projections of belief-star, that of whole rows and that of each head: o and v are read once for the two.

#include <optional>

#include "base/error.h"
#include "ops/arithmetic.h"
#include "ops/project_out.h"
#include "ops/project_out_launch.h"
#include "ops/repeat_heads.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// A head to a lane and the heads of a row side by side in a subgroup: on CPU devices, where the two kernels would
/// otherwise be bound by their loads. Elsewhere a lane per head reads memory in strides, and they run one by one.
struct HeadPerLane {
    std::int64_t heads, width;
    PairRows grid;
    bool suits;

    HeadPerLane(const DeviceTraits& device, Tensor o, std::int64_t count)
        : heads(count),
          width(o.width() / count),
          grid(short_pair_rows(device, o.rows() * count, width)),
          suits(grid.own && grid.group == device.subgroup_size && heads <= grid.group) {
        if (!suits) return;
        const std::int64_t together = grid.group / heads;  // rows
        const std::int64_t rows = (grid.per_group + heads * together - 1) / (heads * together) * together;
        grid.per_group = extent(rows);
        grid.groups = static_cast<std::uint64_t>((o.rows() + rows - 1) / rows);
    }

    /// What both kernels take, of tensors that lie alike.
    Dispatch launch(std::string kernel, std::initializer_list<Tensor> all) const {
        const Tensor o = all.begin()[0], v = all.begin()[1];
        return {.kernel = std::move(kernel),
                .constants = {{"GROUP", grid.group},
                              {"WIDTH", extent(width)},
                              {"STRIP", grid.strip},
                              {"LAYOUT", grid.form(all)},
                              {"GROUPS", extent(heads)},
                              {"ROW_PER_LANE", true}},
                .args = {{"o", o},
                         {"v", v},
                         {"rows", extent(o.rows())},
                         {"o_pitch", extent(o.pitch())},
                         {"v_pitch", extent(v.pitch())},
                         {"per_group", grid.per_group}},
                .groups = grid.groups};
    }
};

/// d_o and d_v from (o, v, the gradient of the rows' result, that of the heads').
class ProjectOutBothBackwardOp : public Op {
public:
    explicit ProjectOutBothBackwardOp(std::int64_t heads) : heads_(heads) {}

    std::string_view name() const override { return "project_out_both_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        for (const std::size_t g : {2, 3}) require(in[g] == in[0], "a gradient is ", in[g], ", the result ", in[0]);
        return {in[0], in[1]};
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        const std::vector<Tensor> of_rows = project_out_backward(in[0], in[1], in[2], 1);
        const std::vector<Tensor> of_heads = project_out_backward(in[0], in[1], in[3], heads_);
        return {add(of_rows[0], of_heads[0]), add(of_rows[1], of_heads[1])};
    }

    void lower(Lowering& to) const override {
        const Tensor o = to.in[0], v = to.in[1], g_rows = to.in[2], g_heads = to.in[3];
        const Tensor d_o = to.out[0], d_v = to.out[1];
        const HeadPerLane lanes(to.device, o, heads_);
        if (!lanes.suits) {
            // What the second adds to is not rounded before.
            const GradientPair sum{d_o, d_v, d_o.format()};
            GradientPair first = sum;
            if (sum.format != Format::f32) first = {to.scratch(o.elements()), to.scratch(o.elements())};
            to.dispatch(project_out_backward_launch(to.device, 1, {o, v, g_rows, first}));
            to.dispatch(project_out_backward_launch(to.device, heads_, {o, v, g_heads, sum, first}));
            return;
        }
        const auto count = static_cast<double>(o.elements());
        Dispatch made = lanes.launch("project_out_both_backward", {o, v, g_rows, g_heads, d_o, d_v});
        made.args.insert(made.args.end(), {{"g_rows", g_rows},
                                           {"g_heads", g_heads},
                                           {"d_o", d_o},
                                           {"d_v", d_v},
                                           {"g_rows_pitch", extent(g_rows.pitch())},
                                           {"g_heads_pitch", extent(g_heads.pitch())}});
        made.flops = 26.0 * count;
        made.bytes = 24.0 * count;
        to.dispatch(std::move(made));
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        return projection_traits(in[0], heads_, 0b1111, 0b11);
    }

private:
    std::int64_t heads_;
};

/// The rows' result and the heads', from (o, v).
class ProjectOutBothOp : public Op {
public:
    explicit ProjectOutBothOp(std::int64_t heads) : heads_(heads) {}

    std::string_view name() const override { return "project_out_both"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require_groups(in, heads_);
        return {in[0], in[0]};
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        return {project_out(in[0], in[1], 1), project_out(in[0], in[1], heads_)};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const Tensor o = at.in[0], v = at.in[1], g_rows = at.d_out[0], g_heads = at.d_out[1];
        if (!g_heads) return project_out_backward(o, v, g_rows, 1);
        if (!g_rows) return project_out_backward(o, v, g_heads, heads_);
        return o.graph().add(std::make_shared<const ProjectOutBothBackwardOp>(heads_), {o, v, g_rows, g_heads});
    }

    void lower(Lowering& to) const override {
        const Tensor o = to.in[0], v = to.in[1], rows = to.out[0], heads = to.out[1];
        const HeadPerLane lanes(to.device, o, heads_);
        if (!lanes.suits) {
            to.dispatch(project_out_launch(to.device, 1, o, v, rows));
            to.dispatch(project_out_launch(to.device, heads_, o, v, heads));
            return;
        }
        const auto count = static_cast<double>(o.elements());
        Dispatch made = lanes.launch("project_out_both", {o, v, rows, heads});
        made.args.insert(made.args.end(), {{"y_rows", rows}, {"y_heads", heads}});
        made.flops = 8.0 * count;
        made.bytes = 16.0 * count;
        to.dispatch(std::move(made));
    }

    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        return projection_traits(in[0], heads_, 0b11, 0b11);
    }

private:
    std::int64_t heads_;
};

}  // namespace

Projections project_out_both(Tensor o, Tensor v, std::int64_t heads, std::int64_t value_heads) {
    const std::vector<Tensor> out =
        o.graph().add(std::make_shared<const ProjectOutBothOp>(heads), {o, match_heads(v, o, value_heads)});
    return {out[0], out[1]};
}

}  // namespace vkf
