#include "ops/elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"
#include "base/random.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/broadcast.h"
#include "ops/elementwise/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

using Kind = ElementStep::Kind;

constexpr std::size_t most_inputs = ElementStep::first_step, most_steps = 6, most_words = 6, most_axes = 6;

/// Numbers that a step reads from the arguments.
std::vector<std::uint32_t> words(const ElementStep& step) {
    const auto number = std::bit_cast<std::uint32_t>(step.number);
    if (step.kind == Kind::dropout) return {step.salt, number};
    if (step.kind == Kind::scale || step.kind == Kind::fill) return {number};
    return {};
}

std::size_t words(std::span<const ElementStep> steps) {
    std::size_t count = 0;
    for (const ElementStep& step : steps) count += words(step).size();
    return count;
}

double flops(const ElementStep& step) {
    return step.kind == Kind::activate ? 32 : step.kind == Kind::slope ? 40 : step.kind == Kind::dropout ? 30 : 1;
}

using Seed = std::array<std::uint32_t, 2>;

double taken(const ElementStep& step, double a, double b, const Seed& seed, std::size_t i) {
    switch (step.kind) {
        case Kind::add:
            return a + b;
        case Kind::sub:
            return a - b;
        case Kind::mul:
            return a * b;
        case Kind::div:
            return a / b;
        case Kind::scale:
            return static_cast<double>(step.number) * a;
        case Kind::fill:
            return static_cast<double>(step.number);
        case Kind::activate:
            return activation(step.activation, a);
        case Kind::slope:
            return activation_slope(step.activation, a) * b;
        case Kind::dropout:
            break;
    }
    return a * dropout_scale(seed, step.salt, static_cast<std::uint32_t>(i), step.number);
}

bool is_broadcast(const Shape& operand, const Shape& result) {
    return operand.elements() < result.elements();
}

/// Reads of the broadcast inputs, one run each; nullopt if these differ, or an input is not one run.
std::optional<BroadcastRun> common_run(std::span<const Tensor> in, const Shape& result) {
    std::optional<BroadcastRun> common;
    for (const Tensor& x : in) {
        if (!is_broadcast(x.shape(), result)) continue;
        const std::optional<BroadcastRun> own = one_run(x.shape(), result);
        if (!own || (common && *common != *own)) return {};
        common = own;
    }
    return common ? common : BroadcastRun{};
}

std::vector<BroadcastAxis> axes_of(std::span<const Tensor> in, const Shape& result) {
    std::vector<Shape> shapes;
    for (const Tensor& x : in) shapes.push_back(x.shape());
    return broadcast_axes(shapes, result);
}

/// Table of the axes for shaders/elementwise/elementwise.glsl.
Table table_of(std::span<const BroadcastAxis> axes, std::size_t operands) {
    std::vector<std::uint32_t> extents;
    std::array<std::vector<std::uint32_t>, most_inputs> strides;
    for (const BroadcastAxis& axis : axes) {
        extents.push_back(checked_u32(axis.extent));
        for (std::size_t k = 0; k < most_inputs; ++k)
            strides[k].push_back(k < operands ? checked_u32(axis.strides[k]) : 0);
    }
    Table made{{{"extent", std::move(extents)}}};
    for (std::size_t k = 0; k < most_inputs; ++k) made.columns.emplace_back(text('x', k), std::move(strides[k]));
    return made;
}

/// Result of several ops. Its derivative is not needed any more.
class FusedOp : public ElementwiseOp {
public:
    FusedOp(std::string name, std::vector<ElementStep> steps, TensorType type)
        : ElementwiseOp(std::move(steps)), name_(std::move(name)), type_(std::move(type)) {}

    std::string_view name() const override { return name_; }
    std::vector<TensorType> infer(std::span<const TensorType>) const override { return {type_}; }

private:
    std::string name_;
    TensorType type_;
};

/// Steps and inputs of several ops, collected for one op.
struct Chain {
    std::vector<ElementStep> steps;
    std::vector<Tensor> in;
    Tensor seed;
    bool one_seed = true;

    /// Appends a node's steps. Its input `made` is the result of the steps so far.
    void append(const Node& node, const ElementwiseOp& op, Tensor made) {
        const auto before = static_cast<std::uint32_t>(steps.size());
        std::vector<Tensor> own = node.in;
        if (op.drops()) {
            one_seed = one_seed && (!seed || seed == own.back());
            seed = own.back();
            own.pop_back();
        }
        std::vector<std::uint32_t> places;
        for (const Tensor& x : own) places.push_back(x == made ? ElementStep::first_step + before - 1 : place_of(x));
        const auto moved = [&](std::uint32_t operand) {
            if (operand >= ElementStep::first_step) return operand + before;
            return operand < places.size() ? places[operand] : 0;
        };
        for (ElementStep step : op.steps()) {
            step.a = moved(step.a);
            step.b = moved(step.b);
            steps.push_back(step);
        }
    }

    /// True if one kernel can do all steps. `strided`: one of the nodes needs the strided kernel. Where none does, two
    /// launches of the kernel that reads inputs run by run cost less than one of the strided kernel.
    bool fits(const Shape& shape, bool strided) const {
        return one_seed && in.size() <= most_inputs && steps.size() <= most_steps && words(steps) <= most_words &&
               (common_run(in, shape) || (strided && axes_of(in, shape).size() <= most_axes));
    }

private:
    std::uint32_t place_of(Tensor x) {
        const auto found = std::ranges::find(in, x);
        const auto place = static_cast<std::uint32_t>(found - in.begin());
        if (found == in.end()) in.push_back(x);
        return place;
    }
};

}  // namespace

bool ElementwiseOp::drops() const {
    return std::ranges::any_of(steps_, [](const ElementStep& step) { return step.kind == Kind::dropout; });
}

bool ElementwiseOp::reference(std::span<const Array> in, std::span<Array> out) const {
    const std::size_t inputs = in.size() - (drops() ? 1 : 0);
    Seed seed{};
    for (std::size_t k = 0; drops() && k < 2; ++k)
        seed[k] = static_cast<std::uint32_t>(static_cast<std::int32_t>(in.back().at[k]));
    std::vector<std::vector<BroadcastAxis>> axes;
    for (std::size_t k = 0; k < inputs; ++k) axes.push_back(broadcast_axes(std::span(&in[k].shape, 1), out[0].shape));
    std::vector<double> values(ElementStep::first_step + steps_.size());
    for (std::size_t i = 0; i < out[0].at.size(); ++i) {
        for (std::size_t k = 0; k < inputs; ++k) values[k] = in[k].at[broadcast_index(axes[k], 0, i)];
        for (std::size_t s = 0; s < steps_.size(); ++s)
            values[ElementStep::first_step + s] = taken(steps_[s], values[steps_[s].a], values[steps_[s].b], seed, i);
        out[0].at[i] = values.back();
    }
    return true;
}

void ElementwiseOp::lower(Lowering& lowering) const {
    const std::span operands = lowering.in.first(lowering.in.size() - (drops() ? 1 : 0));
    const Tensor y = lowering.out[0];
    const std::int64_t count = y.elements();
    std::optional<BroadcastRun> run = common_run(operands, y.shape());
    if (run && run->mod == 1) run->div = count;  // one number for all, so neighbours are computed together
    const std::vector<BroadcastAxis> axes = axes_of(operands, y.shape());
    std::uint32_t broadcast_bits = 0, along = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        if (!is_broadcast(operands[k].shape(), y.shape())) continue;
        broadcast_bits |= 1u << k;
        if (run ? run->div == 1 : axes.back().strides[k] == 1) along |= 1u << k;
    }
    const std::int64_t alike = !run ? axes.back().extent : along ? run->mod : run->div;  // neighbours
    std::uint32_t each = drops() ? 4 : 2;                                                // random words come by four
    while (broadcast_bits && alike % each != 0) each /= 2;
    require(each > 1 || y.format() == Format::f32, "packed numbers are made in pairs");

    const Sweep grid = sweep(lowering.device, count);
    Dispatch made{.kernel = !run                ? "elementwise_strided"
                            : steps_.size() > 1 ? "elementwise_chain"
                                                : "elementwise",
                  .constants = {{"GROUP", grid.group},
                                {"INPUTS", checked_u32(static_cast<std::int64_t>(operands.size()))},
                                {"STEPS", checked_u32(static_cast<std::int64_t>(steps_.size()))},
                                {"EACH", each},
                                {"LEFT", checked_u32(count % each)},
                                {"BROADCAST", broadcast_bits},
                                {"ALONG", along},
                                {"LAYOUT_Y", vector_layout(y)}},
                  .args = {{"seed", drops() ? ArgValue{lowering.in.back()} : ArgValue{}},
                           {"y", y},
                           {"count", checked_u32(count)},
                           {"per_group", grid.per_group}},
                  .groups = grid.groups,
                  .bytes = 4.0 * static_cast<double>(count)};
    if (run) {
        made.args.insert(made.args.end(), {{"div", checked_u32(run->div)}, {"mod", checked_u32(run->mod)}});
    } else {
        made.constants.emplace_back("AXES", checked_u32(std::ssize(axes)));
        made.args.emplace_back("axes", table_of(axes, operands.size()));
    }
    for (std::size_t k = 0; k < most_inputs; ++k) {
        if (k >= operands.size()) {
            made.args.emplace_back(text('x', k), std::monostate{});
            continue;
        }
        made.args.emplace_back(text('x', k), operands[k]);
        made.constants.emplace_back(text("LAYOUT", k), vector_layout(operands[k]));
        made.bytes += 4.0 * static_cast<double>(operands[k].elements());
    }
    std::vector<std::uint32_t> numbers;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
        const ElementStep& step = steps_[s];
        made.constants.emplace_back(
            text("STEP", s), static_cast<std::uint32_t>(step.kind) | static_cast<std::uint32_t>(step.activation) << 4 |
                                 step.a << 8 | step.b << 12 | static_cast<std::uint32_t>(numbers.size()) << 16);
        std::ranges::copy(words(step), std::back_inserter(numbers));
        made.flops += flops(step) * static_cast<double>(count);
    }
    numbers.resize(most_words);
    for (std::size_t w = 0; w < most_words; ++w) made.args.emplace_back(text('w', w), numbers[w]);
    lowering.dispatch(std::move(made));
}

KernelTraits ElementwiseOp::kernel_traits(std::span<const Tensor> in) const {
    const std::span operands = in.first(in.size() - (drops() ? 1 : 0));
    std::int64_t count = 0;
    for (const Tensor& x : operands) count = std::max(count, x.elements());
    std::uint32_t terms = 0, whole = 0;
    for (const ElementStep& step : steps_)
        if (step.kind == Kind::add || step.kind == Kind::sub) terms |= 1u << step.a | 1u << step.b;
    for (std::size_t k = 0; k < operands.size(); ++k)
        if (operands[k].elements() == count) whole |= 1u << k;
    const std::uint32_t all = (1u << operands.size()) - 1;
    const bool scales = std::ranges::all_of(steps_, [](const ElementStep& s) { return s.kind == Kind::scale; });
    return {.half_in = all, .half_out = 0b1, .widening = scales ? 0 : (whole | terms) & all};
}

bool ElementwiseOp::may_alias(std::size_t, std::size_t) const {
    return true;  // the planner compares sizes
}

std::optional<Node> fused(const Node& maker, const Node& reader) {
    const auto* before = dynamic_cast<const ElementwiseOp*>(maker.op.get());
    const auto* after = dynamic_cast<const ElementwiseOp*>(reader.op.get());
    const TensorType& type = reader.out[0].type();
    if (!before || !after || maker.out[0].shape() != type.shape) return {};
    const auto operands_of = [](const Node& node, const ElementwiseOp& op) {
        return std::span(node.in).first(node.in.size() - (op.drops() ? 1 : 0));
    };
    Chain chain;
    chain.append(maker, *before, Tensor());
    chain.append(reader, *after, maker.out[0]);
    const bool strided =
        !common_run(operands_of(maker, *before), type.shape) || !common_run(operands_of(reader, *after), type.shape);
    if (!chain.fits(type.shape, strided)) return {};
    if (chain.seed) chain.in.push_back(chain.seed);
    auto op = std::make_shared<const FusedOp>(text(before->name(), '+', after->name()), std::move(chain.steps), type);
    return Node{std::move(op), std::move(chain.in), reader.out, reader.scope};
}

}  // namespace vkf
