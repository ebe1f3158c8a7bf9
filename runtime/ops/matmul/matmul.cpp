// Matrix product of one matrix or a batch: row_scale · activation(alpha · op(a) · op(b) + bias) + aux, or
// row_scale · (alpha · op(a) · op(b) + bias) · activation'(aux); op is the identity or the transpose.
#include "ops/matmul/matmul.h"

#include <tuple>

#include "base/error.h"
#include "ops/cpu/unrolled_matmul.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/broadcast.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/matmul_tuning.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"
#include "ops/rows/reduce.h"
#include "ops/rows/rows.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Size of y, and strides of the matrices of a and b, given the pitches of a and b.
struct Gemm {
    GemmShape shape;
    OperandStrides a, b;
};

class MatmulOp : public Op {
public:
    enum Operand : std::size_t { left, right, shift, aux, row_scale };

    /// Appends a product. `flat`: all rows of a, and all of b, form one matrix, whatever the leading extents (for a
    /// weight's gradient).
    static Tensor of(Tensor a, Tensor b, const MatmulOptions& options, bool flat) {
        const Tensor scales = options.row_scale ? contiguous(options.row_scale) : Tensor();
        const Tensor more = options.pre_activation ? options.pre_activation : options.addend;
        return add_one(a.graph(), MatmulOp(options, flat), {a, b, options.bias, more, scales});
    }

    MatmulOp(const MatmulOptions& options, bool flat)
        : transpose_a_(options.transpose_a),
          transpose_b_(options.transpose_b),
          flat_(flat),
          alpha_(options.alpha),
          activation_(options.activation),
          epilogue_(options.pre_activation ? Epilogue::activation_backward : Epilogue::add) {
        require(!options.pre_activation || !options.addend,
                "addend and pre_activation are both given, wanted one of them");
    }

    std::string_view name() const override { return "matmul"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& a = in[left].shape;
        const Shape& b = in[right].shape;
        for (const TensorType& type : in) require(type.dtype == DType::f32, "wants f32, not ", type);
        require(!(transpose_a_ && transpose_b_), "cannot transpose both a and b");
        require(a.elements() > 0 && b.elements() > 0, "a is ", a, " and b ", b, ": a product needs elements");
        require(a.rank() >= 2 && b.rank() >= 2, "a is ", a, " and b ", b, ", wanted matrices");
        if (!one_matrix(a, b)) {
            require(a.rank() == b.rank(), "a is ", a, " and b ", b, ", wanted one b or one for each matrix of a");
            for (int axis = 0; axis + 2 < static_cast<int>(a.rank()); ++axis)
                require(a[axis] == b[axis], "a is ", a, " and b ", b, ": their leading extents differ");
        }
        const Gemm made = product(a, b, a.width(), b.width());
        const std::int64_t b_k = transpose_b_ ? b.width() : flat_ ? b.rows() : b[-2];
        require(made.shape.k == b_k, "a is ", a, transpose_a_ ? " transposed" : "", " and b ", b,
                transpose_b_ ? " transposed" : "", ": they sum over ", made.shape.k, " and ", b_k, " terms");
        Shape y = a.with_width(made.shape.n);
        if (transpose_a_) {
            std::vector<std::int64_t> extents;
            if (!flat_) extents.assign(a.extents().begin(), a.extents().end() - 2);
            extents.insert(extents.end(), {made.shape.m, made.shape.n});
            y = Shape(extents);
        }
        const auto absent = [&](std::size_t i) { return in[i].shape == Shape{0}; };
        require(absent(shift) || in[shift].shape == Shape{made.shape.n}, "bias is ", in[shift].shape, ", wanted ",
                Shape{made.shape.n});
        require(absent(aux) || in[aux].shape == y, takes_derivative() ? "pre_activation" : "addend", " is ",
                in[aux].shape, ", the product ", y);
        require(absent(row_scale) || leads(in[row_scale].shape, a), "row_scale is ", in[row_scale].shape,
                ", wanted leading extents of ", a, " and ones");
        return {{DType::f32, y}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        if (takes_activation()) return false;
        const Gemm made = product(in[left].shape, in[right].shape, in[left].shape.width(), in[right].shape.width());
        const auto [batches, m, n, k] = std::tuple(made.shape.batches, made.shape.m, made.shape.n, made.shape.k);
        for (std::int64_t row = 0; row < batches * m; ++row) {
            const std::int64_t z = row / m, i = row % m;
            double* y = out[0].at.data() + row * n;
            const double* a = in[left].at.data() + z * made.a.batch + (transpose_a_ ? i : i * made.a.pitch);
            const double* b = in[right].at.data() + z * made.b.batch;
            const auto scale_of = [&](std::int64_t a_row) {
                const Array& scales = in[row_scale];
                if (scales.at.empty()) return 1.0;
                return scales.at[static_cast<std::size_t>(a_row * scales.shape.elements() / in[left].shape.rows())];
            };
            for (std::int64_t t = 0; t < k; ++t) {
                double x = static_cast<double>(alpha_) * a[transpose_a_ ? t * made.a.pitch : t];
                if (transpose_a_) x *= scale_of(z * k + t);
                for (std::int64_t j = 0; j < n; ++j)
                    y[j] += x * b[transpose_b_ ? j * made.b.pitch + t : t * made.b.pitch + j];
            }
            for (std::int64_t j = 0; j < n; ++j) {
                if (!in[shift].at.empty()) y[j] += in[shift].at[static_cast<std::size_t>(j)];
                if (!transpose_a_) y[j] *= scale_of(row);
                if (in[aux].at.empty()) continue;
                const double more = in[aux].at[static_cast<std::size_t>(row * n + j)];
                y[j] = takes_derivative() ? y[j] * activation_slope(activation_, more) : y[j] + more;
            }
        }
        return true;
    }

    /// Expands ops without a vjp. A fused activation is for inference: its derivative needs the value before it, which
    /// only the plain ops keep. Factors of rows are rarely differentiated. With pre_activation the result is a
    /// gradient, which is not differentiated.
    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        if (activation_ == Activation::none && !takes_derivative() && !in[row_scale]) return {};
        const Tensor a = in[row_scale] && transpose_a_ ? mul(in[left], in[row_scale]) : in[left];
        Tensor y = of(a, in[right], {transpose_a_, transpose_b_, alpha_, in[shift]}, flat_);
        if (takes_activation()) y = activate(y, activation_);
        if (in[row_scale] && !transpose_a_) y = mul(y, in[row_scale]);
        if (takes_derivative()) return {activate_backward(in[aux], y, activation_)};
        return {in[aux] ? add(y, in[aux]) : y};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        if (takes_activation() || takes_derivative() || at.wanted[row_scale]) return std::nullopt;
        const Tensor a = at.in[left], b = at.in[right], scales = at.in[row_scale], d = at.d_out[0];
        const bool flat = one_matrix(a.shape(), b.shape());
        // In each of these products row_scale multiplies rows of the left operand.
        const auto with = [&](bool transpose_left, bool transpose_right) {
            return MatmulOptions{
                .transpose_a = transpose_left, .transpose_b = transpose_right, .alpha = alpha_, .row_scale = scales};
        };
        std::vector<Tensor> d_in(at.in.size());
        if (at.wanted[left]) {
            if (transpose_a_)  // a is [k, m]: b · dᵀ
                d_in[left] = of(b, d, with(false, true), false);
            else
                d_in[left] = of(d, b, with(false, !transpose_b_), false);
        }
        if (at.wanted[right]) {
            if (transpose_a_)
                d_in[right] = of(a, d, with(false, false), false);
            else if (transpose_b_)
                d_in[right] = of(d, a, with(true, false), flat);
            else
                d_in[right] = of(a, d, with(true, false), flat);
        }
        if (at.wanted[shift]) d_in[shift] = column_sum(d, transpose_a_ ? Tensor() : scales);
        if (at.wanted[aux]) d_in[aux] = d;
        return d_in;
    }

    void lower(Lowering& lowering) const override {
        std::optional<Scratch> parts;
        append_gemm(lowering, call(lowering.in, lowering.out[0]), parts);
    }

    GemmCall call(std::span<const Tensor> in, Tensor y) const {
        const Tensor a = in[left], b = in[right], more = in[aux], scales = in[row_scale];
        Gemm made = product(a.shape(), b.shape(), a.pitch(), b.pitch());
        GemmShape& shape = made.shape;
        const std::int64_t m = shape.m, n = shape.n;
        const std::int64_t more_pitch = more ? more.pitch() : 0;
        shape.packed_y = y && y.format() != Format::f32;
        shape.packed_factors = a.format() != Format::f32 || b.format() != Format::f32;
        shape.row_scale = static_cast<bool>(scales);
        const auto optional = [](Tensor x) { return x ? ArgValue{x} : ArgValue{}; };
        return {.shape = shape,
                .a = a,
                .b = b,
                .bias = optional(in[shift]),
                .aux = optional(more),
                .epilogue = more ? epilogue_ : Epilogue::none,
                .row_scale = row_scale_of(scales, a),
                .y = optional(y),
                .layout_a = vector_layout(a, pairs_aligned(a, made.a, transpose_a_ ? m : 0)),
                .layout_b = vector_layout(b, pairs_aligned(b, made.b, transpose_b_ ? 0 : n)),
                .layout_aux = vector_layout(more, more && pairs_aligned(more, {m * more_pitch, more_pitch}, n)),
                .layout_y = vector_layout(y, n % 2 == 0),
                .a_at = made.a,
                .b_at = made.b,
                .aux_pitch = more_pitch,
                .y_pitch = n,
                .alpha = alpha_,
                .activation = activation_};
    }

    /// aux may be y: each element of aux is read by the lane that then writes the same element of y.
    bool may_alias(std::size_t, std::size_t input) const override { return input == aux; }
    /// A weight's gradient stays fp32, even if it is only a part that is added to another; so does the decode kernel's
    /// result. An addend is fp32; a pre-activation is read in the format in which it is stored.
    KernelTraits kernel_traits(std::span<const Tensor> in) const override {
        const Tensor a = in[left], b = in[right];
        const bool decode = is_decode(product(a.shape(), b.shape(), a.pitch(), b.pitch()).shape);
        const std::uint32_t factors = 1u << left | 1u << right;
        return {.half_in = factors | (takes_derivative() ? 1u << aux : 0u),
                .half_out = decode || transpose_a_ ? 0u : 1u,
                .widening = 1u << aux,
                .gemm_operands = factors};
    }

    /// This product with the factor kind'(aux); empty if it already has an activation or an aux.
    std::optional<MatmulOp> with_activation_backward(std::span<const Tensor> in, Activation kind) const {
        if (activation_ != Activation::none || in[aux]) return std::nullopt;
        MatmulOp made = *this;
        made.activation_ = kind;
        made.epilogue_ = Epilogue::activation_backward;
        return made;
    }

private:
    bool takes_derivative() const { return epilogue_ == Epilogue::activation_backward; }
    bool takes_activation() const { return activation_ != Activation::none && !takes_derivative(); }

    /// True if all rows of a form one matrix.
    bool one_matrix(const Shape& a, const Shape& b) const {
        if (transpose_a_) return flat_ || (a.rank() == 2 && b.rank() == 2);
        return b.rank() == 2;
    }

    Gemm product(const Shape& a, const Shape& b, std::int64_t a_pitch, std::int64_t b_pitch) const {
        Gemm made{};
        GemmShape& shape = made.shape;
        shape.transpose_a = transpose_a_;
        shape.transpose_b = transpose_b_;
        const bool one = one_matrix(a, b);
        const std::int64_t a_rows = one ? a.rows() : a[-2];
        const std::int64_t b_rows = one ? b.rows() : b[-2];
        shape.batches = one ? 1 : a.rows() / a_rows;
        shape.m = transpose_a_ ? a.width() : a_rows;
        shape.k = transpose_a_ ? a_rows : a.width();
        shape.n = transpose_b_ ? b_rows : b.width();
        made.a = {a_rows * a_pitch, a_pitch};
        made.b = {b_rows * b_pitch, b_pitch};
        return made;
    }

    /// True if elements 2 i and 2 i + 1 of every row form one aligned 64-bit word; storages begin at such words.
    static bool pairs_aligned(Tensor x, const OperandStrides& at, std::int64_t width) {
        return x.graph().value(x).offset % 2 == 0 && at.pitch % 2 == 0 && at.batch % 2 == 0 && width % 2 == 0;
    }

    bool transpose_a_;
    bool transpose_b_;
    bool flat_;
    float alpha_;
    Activation activation_;  // of the product; with Epilogue::activation_backward its derivative at aux is a factor
    Epilogue epilogue_;      // used if there is an aux
};

}  // namespace

std::optional<GemmCall> gemm_call(const Op& op, std::span<const Tensor> in, Tensor y) {
    const auto* product = dynamic_cast<const MatmulOp*>(&op);
    return product ? std::optional(product->call(in, y)) : std::nullopt;
}

std::optional<Node> with_activation_backward(const Node& product, Tensor pre_activation, Activation kind) {
    const auto* op = dynamic_cast<const MatmulOp*>(product.op.get());
    auto made = op ? op->with_activation_backward(product.in, kind) : std::nullopt;
    if (!made) return std::nullopt;
    Node node{std::make_shared<const MatmulOp>(std::move(*made)), product.in, product.out, product.scope};
    node.in[MatmulOp::aux] = pre_activation;
    return node;
}

void append_gemm(Lowering& lowering, const GemmCall& call, std::optional<Scratch>& parts_scratch) {
    const GemmShape& shape = call.shape;
    const auto [batches, m, n, k] = std::tuple(shape.batches, shape.m, shape.n, shape.k);
    const bool with_bias = !std::holds_alternative<std::monostate>(call.bias);
    const bool scales_terms = shape.scales_terms();
    const KernelConfig config = gemm_config(lowering.device, call);
    if (config.kernel == "matmul_unrolled") return append_unrolled(lowering, call, config, parts_scratch);
    const bool split = config.splits > 1;
    ArgValue result = call.y;
    if (config.most_splits > 1) {
        const Scratch room = lowering.shared_scratch(parts_scratch, batches * config.most_splits * m * n);
        if (split) result = room;
    }
    const double area = static_cast<double>(batches * m) * static_cast<double>(n);
    const double factors = static_cast<double>(batches * k) * static_cast<double>(m + n);

    Dispatch parts{.kernel = config.kernel,
                   .constants = config.constants,
                   .args = {{"a", call.a},
                            {"b", call.b},
                            {"bias", split ? ArgValue{} : call.bias},
                            {"aux", split ? ArgValue{} : call.aux},
                            {"row_scale", split && !scales_terms ? ArgValue{} : call.row_scale.at},
                            {"y", result},
                            {"m", checked_u32(m)},
                            {"n", checked_u32(n)},
                            {"k", checked_u32(k)},
                            {"batches", checked_u32(batches)},
                            {"splits", checked_u32(config.splits)},
                            {"chunk", checked_u32(config.chunk)},
                            {"a_pitch", checked_u32(call.a_at.pitch)},
                            {"b_pitch", checked_u32(call.b_at.pitch)},
                            {"y_pitch", checked_u32(split ? n : call.y_pitch)},
                            {"aux_pitch", checked_u32(call.aux_pitch)},
                            {"a_batch", checked_u32(call.a_at.batch)},
                            {"b_batch", checked_u32(call.b_at.batch)},
                            {"y_batch", checked_u32(m * (split ? n : call.y_pitch))},
                            {"aux_batch", checked_u32(m * call.aux_pitch)},
                            {"rows_per_scale", checked_u32(call.row_scale.rows)},
                            {"alpha", split ? 1.0f : call.alpha}},
                   .groups = static_cast<std::uint64_t>(config.tiles * config.splits),
                   .flops = 2.0 * area * static_cast<double>(k),
                   .bytes = 4.0 * (factors + area)};
    Dispatch sum{.kernel = "matmul_sum",
                 .constants = {{"GROUP", row_group(lowering.device, n)}},
                 .args = {{"parts", result},
                          {"bias", call.bias},
                          {"aux", call.aux},
                          {"row_scale", scales_terms ? ArgValue{} : call.row_scale.at},
                          {"y", call.y},
                          {"m", checked_u32(m)},
                          {"n", checked_u32(n)},
                          {"batches", checked_u32(batches)},
                          {"splits", checked_u32(config.splits)},
                          {"y_pitch", checked_u32(call.y_pitch)},
                          {"aux_pitch", checked_u32(call.aux_pitch)},
                          {"y_batch", checked_u32(m * call.y_pitch)},
                          {"aux_batch", checked_u32(m * call.aux_pitch)},
                          {"rows_per_scale", checked_u32(call.row_scale.rows)},
                          {"alpha", call.alpha}},
                 .groups = static_cast<std::uint64_t>(batches * m),
                 .flops = area * static_cast<double>(config.splits),
                 .bytes = 4.0 * area * static_cast<double>(config.splits + 1)};
    parts.constants.emplace_back("LAYOUT_A", call.layout_a);
    parts.constants.emplace_back("LAYOUT_B", call.layout_b);
    parts.constants.emplace_back("LAYOUT_Y", split ? vector_layout(n % 2 == 0) : call.layout_y);
    if (config.kernel.starts_with("matmul_coopmat")) {
        // Matrices are loaded faster if lines of 16-bit elements start at multiples of 16 bytes.
        parts.constants.emplace_back("ALIGNED_A", in_multiples(call.a, call.a_at.pitch | call.a_at.batch, 8));
        parts.constants.emplace_back("ALIGNED_B", in_multiples(call.b, call.b_at.pitch | call.b_at.batch, 8));
        parts.constants.emplace_back("ALIGNED_Y", in_multiples(call.y, call.y_pitch, 8));
    }
    if (config.kernel == "matmul_tile") {  // rows must end with a word of four, unless they go along k or are padded
        const std::int64_t a_width = shape.transpose_a && !call.padded_a ? m : 0, b_width = shape.transpose_b ? 0 : n;
        parts.constants.emplace_back("ALIGNED_A", in_multiples(call.a, call.a_at.pitch | call.a_at.batch | a_width, 4));
        parts.constants.emplace_back("ALIGNED_B", in_multiples(call.b, call.b_at.pitch | call.b_at.batch | b_width, 4));
    }
    Dispatch& last = split ? sum : parts;
    if (split) last.constants.emplace_back("LAYOUT_Y", call.layout_y);
    if (with_bias) last.constants.emplace_back("BIAS", true);
    if (call.epilogue != Epilogue::none) {
        last.constants.emplace_back("EPILOGUE", static_cast<std::uint32_t>(call.epilogue));
        last.constants.emplace_back("LAYOUT_AUX", call.layout_aux);
    }
    if (shape.row_scale) (scales_terms ? parts : last).constants.emplace_back("ROW_SCALE", true);
    if (call.activation != Activation::none)
        last.constants.emplace_back("ACTIVATION", static_cast<std::uint32_t>(call.activation));
    lowering.dispatch(std::move(parts));
    if (split) lowering.dispatch(std::move(sum));
}

Tensor matmul(Tensor a, Tensor b, const MatmulOptions& options) {
    return MatmulOp::of(a, b, options, false);
}

}  // namespace vkf
