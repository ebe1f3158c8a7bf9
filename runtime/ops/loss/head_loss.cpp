// Output layer of a language model and mean cross-entropy in one op, so that the logits of a whole batch never exist.
#include "ops/loss/head_loss.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/policy.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

enum Result : std::size_t { loss, d_input, d_table };

/// Outputs: the loss, and for the derivative its gradients with respect to x and w. Computed along with the loss, chunk
/// by chunk of rows, they need each chunk's logits only for that chunk, and no product twice. If the input upstream is
/// given, they are gradients of upstream · loss.
class HeadLossOp : public Op {
    enum Operand : std::size_t { input, table, target, upstream };

public:
    HeadLossOp(std::optional<std::int64_t> logits_bytes, const LossTerms& terms)
        : logits_bytes_(logits_bytes), terms_(terms) {}

    std::string_view name() const override { return "head_loss"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape &x = in[input].shape, &w = in[table].shape;
        require(in[input].dtype == DType::f32 && in[table].dtype == DType::f32, "wants f32, not ", in[input], " and ",
                in[table]);
        require(x.rank() >= 1 && w.rank() == 2 && x.width() == w.width() && x.elements() > 0 && w.elements() > 0,
                "x is ", x, ", w ", w, "; wanted [..., C] and [V, C]");
        require(in[target].dtype == DType::i32 &&
                    std::ranges::equal(x.extents().first(x.rank() - 1), in[target].shape.extents()),
                "x is ", in[input], ", targets ", in[target], "; wanted one i32 target per row");
        require(in.size() <= upstream || in[upstream] == TensorType{DType::f32, {}}, "d_loss is ", in.back(),
                ", wanted f32[]");
        require(terms_.label_smoothing >= 0 && terms_.label_smoothing < 1, "label_smoothing is ",
                terms_.label_smoothing, ", wanted 0 or more and less than 1");
        return {{DType::f32, {}}, in[input], in[table]};
    }

    /// With terms, which plain ops do not express.
    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        if (terms_ == LossTerms{}) return false;
        const auto width = static_cast<std::size_t>(in[table].shape[0]);
        const auto channels = static_cast<std::size_t>(in[table].shape.width());
        const std::vector<double>&x = in[input].at, &w = in[table].at, &targets = in[target].at;
        const auto count = static_cast<double>(std::ranges::count_if(targets, [](double t) { return t >= 0; }));
        const double upstream_gradient = in.size() > upstream ? in[upstream].at[0] : 1.0;
        const double z_loss = terms_.z_loss, smoothing = terms_.label_smoothing;
        std::vector<double> logits(width);
        for (std::size_t row = 0; row < targets.size(); ++row) {
            if (targets[row] < 0) continue;
            const std::size_t chosen = std::min(static_cast<std::size_t>(targets[row]), width - 1),
                              first = row * channels;
            for (std::size_t v = 0; v < width; ++v) {
                logits[v] = 0;
                for (std::size_t c = 0; c < channels; ++c) logits[v] += x[first + c] * w[v * channels + c];
            }
            const double top = *std::ranges::max_element(logits);
            double sum = 0, target_logit = (1 - smoothing) * logits[chosen];  // its mean over the target's distribution
            for (const double logit : logits) {
                sum += std::exp(logit - top);
                target_logit += smoothing / static_cast<double>(width) * logit;
            }
            const double log_z = top + std::log(sum);
            out[loss].at[0] += (log_z - target_logit + z_loss * log_z * log_z) / count;
            for (std::size_t v = 0; v < width; ++v) {
                const double p = std::exp(logits[v] - log_z) * (1 + 2 * z_loss * log_z);
                const double wanted = smoothing / static_cast<double>(width) + (v == chosen ? 1 - smoothing : 0);
                const double d_logit = (p - wanted) * upstream_gradient / count;
                for (std::size_t c = 0; c < channels; ++c) {
                    out[d_input].at[first + c] += d_logit * w[v * channels + c];
                    out[d_table].at[v * channels + c] += d_logit * x[first + c];
                }
            }
        }
        return true;
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
        if (terms_ != LossTerms{}) return {};
        const Tensor x = reshape(in[input], {in[input].rows(), in[input].width()});
        const Tensor logits = matmul(x, in[table], {.transpose_b = true});
        const Tensor mean = cross_entropy(logits, reshape(in[target], {x.rows()}));
        const Tensor d_mean = in.size() > upstream ? in[upstream] : fill(x.graph(), {}, 1.0f);
        const Tensor d_logits = gradients(std::span(&mean, 1), std::span(&d_mean, 1), std::span(&logits, 1)).front();
        return {mean, reshape(matmul(d_logits, in[table]), in[input].shape()),
                matmul(d_logits, x, {.transpose_a = true})};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        require(!at.d_out[d_input] && !at.d_out[d_table], "its gradients have no derivative");
        const Tensor d_loss = at.d_out[loss];
        const bool seeded = at.in.size() > upstream;
        const auto scaled = [&](Tensor d) {
            if (seeded) return d_loss == at.in[upstream] ? d : mul(d, div(d_loss, at.in[upstream]));
            return filled_with(d_loss) == 1.0f ? d : mul(d, d_loss);
        };
        std::vector<Tensor> d_in(at.in.size());
        if (at.wanted[input]) d_in[input] = scaled(at.out[d_input]);
        if (at.wanted[table]) d_in[table] = scaled(at.out[d_table]);
        return d_in;
    }

    bool optional_output(std::size_t output) const override { return output != loss; }
    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        const std::uint32_t factors = 1u << input | 1u << table;
        return {.half_in = factors, .half_out = 1u << d_input, .gemm_operands = factors};
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[input], w = lowering.in[table], targets = lowering.in[target];
        const Tensor d_x = lowering.out[d_input], d_w = lowering.out[d_table];
        const std::int64_t rows = x.rows(), width = w.rows(), pitch = logits_pitch(lowering.device, width);
        const std::int64_t most = logits_chunk(lowering.device, rows, pitch, logits_bytes_);
        const Scratch row_loss = lowering.scratch(rows), count = lowering.scratch(1);
        const GemmOperand logits{lowering.scratch(most * pitch), pitch, vector_layout(true)}, weight = matrix(w);
        const GemmOperand d_logits =
            d_x || d_w ? gradient_of(lowering, logits, most) : GemmOperand{{}, pitch, logits.form};
        std::optional<Scratch> parts;
        append_count(lowering, "count_targets", {{"targets", targets}, {"count", count}}, rows);
        for (std::int64_t first = 0; first < rows; first += most) {
            const std::int64_t n = std::min(most, rows - first);
            const GemmOperand x_rows = matrix(x, first, n);
            append(lowering, {.m = n, .n = width, .k = x.width(), .transpose_b = true}, x_rows, weight, logits, parts);
            append_losses(lowering, logits, d_logits, n, {targets, first, n}, {row_loss, first, n}, count);
            if (d_x)
                append(lowering, {.m = n, .n = x.width(), .k = width}, d_logits, weight, matrix(d_x, first, n), parts);
            if (d_w)
                append(lowering, {.m = width, .n = x.width(), .k = n, .transpose_a = true, .onto_y = first > 0},
                       d_logits, x_rows, matrix(d_w), parts);
        }
        append_count(lowering, "cross_entropy_mean",
                     {{"row_loss", row_loss}, {"targets", targets}, {"loss", lowering.out[loss]}, {"count", count}},
                     rows);
    }

private:
    /// Rows at equal distances, and the layout of their pairs if rows are even.
    struct GemmOperand {
        ArgValue at;
        std::int64_t pitch;
        std::uint32_t form;
    };
    struct Extents {
        std::int64_t m, n, k;
        bool transpose_a = false, transpose_b = false;
        bool onto_y = false;  // adds to y's contents
    };

    static std::uint32_t form(Tensor x) {
        return vector_layout(x, x.width() % 2 == 0 && x.graph().value(x).offset % 2 == 0);
    }
    static bool packed(const GemmOperand& x) { return x.form > vector_layout(true); }
    /// x.form if the extent read in pairs is even (`in_pairs`) or x is packed, in rows that are even or padded; else
    /// scalar.
    static std::uint32_t form(const GemmOperand& x, bool in_pairs) {
        return in_pairs || packed(x) ? x.form : vector_layout(false);
    }
    static GemmOperand matrix(Tensor x) { return {x, x.width(), form(x)}; }
    static GemmOperand matrix(Tensor x, std::int64_t first, std::int64_t rows) {
        return {Section{x, first * x.width(), rows * x.width()}, x.width(), form(x)};
    }

    /// Memory for the gradient of `rows` rows of logits: that of the logits; or separate memory in 16 bits on a GPU
    /// whose products round their factors to these, so that each number is rounded once and moved in half the bytes.
    static GemmOperand gradient_of(Lowering& lowering, const GemmOperand& logits, std::int64_t rows) {
        if (!has_narrow_gradient(lowering.device)) return logits;
        const bool bf16 = lowering.device.matrices->element == MatrixElement::bf16;
        return {lowering.scratch(rows * logits.pitch / 2), logits.pitch,
                static_cast<std::uint32_t>(bf16 ? VectorLayout::bf16x2 : VectorLayout::f16x2)};
    }

    /// Appends a kernel of one workgroup that counts rows.
    static void append_count(Lowering& lowering, std::string kernel, Args args, std::int64_t rows) {
        args.emplace_back("rows", checked_u32(rows));
        lowering.dispatch({.kernel = std::move(kernel),
                           .constants = {{"GROUP", row_group(lowering.device, rows)}},
                           .args = std::move(args),
                           .bytes = 8.0 * static_cast<double>(rows)});
    }

    /// Appends y = op(a) · op(b), where a and b are one matrix each.
    static void append(Lowering& lowering, const Extents& size, const GemmOperand& a, const GemmOperand& b,
                       const GemmOperand& y, std::optional<Scratch>& parts) {
        const bool padded_a = pads_logits(lowering.device) && std::holds_alternative<Scratch>(a.at);
        append_gemm(lowering,
                    {.shape = {.batches = 1,
                               .m = size.m,
                               .n = size.n,
                               .k = size.k,
                               .transpose_a = size.transpose_a,
                               .transpose_b = size.transpose_b,
                               .packed_y = packed(y),
                               .packed_factors = packed(a) || packed(b)},
                     .a = a.at,
                     .b = b.at,
                     .padded_a = padded_a,
                     .aux = size.onto_y ? y.at : ArgValue{},
                     .epilogue = size.onto_y ? Epilogue::add : Epilogue::none,
                     .y = y.at,
                     .layout_a = form(a, padded_a || !size.transpose_a || size.m % 2 == 0),
                     .layout_b = form(b, size.transpose_b || size.n % 2 == 0),
                     .layout_aux = form(y, size.n % 2 == 0),
                     .layout_y = form(y, size.n % 2 == 0),
                     .a_at = {0, a.pitch},
                     .b_at = {0, b.pitch},
                     .aux_pitch = size.onto_y ? y.pitch : 0,
                     .y_pitch = y.pitch},
                    parts);
    }

    /// Appends each row's loss, and for the derivative the logits' gradient.
    void append_losses(Lowering& lowering, const GemmOperand& logits, const GemmOperand& d_logits, std::int64_t rows,
                       const Section& targets, const Section& row_loss, Scratch count) const {
        const std::int64_t width = lowering.in[table].rows();
        const bool differentiates = lowering.out[d_input] || lowering.out[d_table],
                   seeded = differentiates && lowering.in.size() > upstream;
        const RowSweep grid = row_sweep(lowering.device, rows, width);
        const double elements = static_cast<double>(rows) * static_cast<double>(width);
        lowering.dispatch({.kernel = "head_loss",
                           .constants = {{"GROUP", grid.group},
                                         {"BLOCK", pairs_per_block(grid.group, width)},
                                         {"LAYOUT", logits.form},
                                         {"LAYOUT_D", d_logits.form},
                                         {"GRADIENT", differentiates},
                                         {"HAS_D_LOSS", seeded},
                                         {"SMOOTHED", terms_.label_smoothing > 0}},
                           .args = {{"logits", logits.at},
                                    {"targets", targets},
                                    {"count", count},
                                    {"d_loss", seeded ? lowering.in[upstream] : ArgValue{}},
                                    {"row_loss", row_loss},
                                    {"d_logits", d_logits.at},
                                    {"rows", checked_u32(rows)},
                                    {"width", checked_u32(width)},
                                    {"pitch", checked_u32(logits.pitch)},
                                    {"per_group", grid.per_group},
                                    {"z_loss", terms_.z_loss},
                                    {"label_smoothing", terms_.label_smoothing}},
                           .groups = grid.groups,
                           .flops = (differentiates ? 40.0 : 20.0) * elements,
                           .bytes = (!differentiates    ? 4.0
                                     : packed(d_logits) ? 10.0
                                                        : 12.0) *
                                    elements});
    }

    std::optional<std::int64_t> logits_bytes_;
    LossTerms terms_;
};

}  // namespace

Tensor head_loss(Tensor x, Tensor w, Tensor targets, const HeadLossOptions& options) {
    std::vector<Tensor> in{contiguous(x), contiguous(w), contiguous(targets)};
    if (options.d_loss) in.push_back(options.d_loss);
    return x.graph()
        .add(std::make_shared<const HeadLossOp>(options.logits_bytes, options.terms), std::move(in))
        .front();
}

}  // namespace vkf
