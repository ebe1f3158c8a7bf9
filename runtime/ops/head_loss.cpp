// A language model's last map and its mean cross-entropy in one op, so that the logits of a whole batch never exist.
#include "ops/head_loss.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "ops/arithmetic.h"
#include "ops/backward.h"
#include "ops/cross_entropy.h"
#include "ops/gemm.h"
#include "ops/matmul.h"
#include "ops/rows.h"
#include "ops/vector_layout.h"
#include "ops/view.h"

namespace vkf {

namespace {

enum Operand : std::size_t { input, table, target, upstream };
enum Result : std::size_t { loss, d_input, d_table };

/// Outputs the loss, and its gradients by x and w for whoever differentiates: made along with the loss, chunk by chunk
/// of rows, they need each chunk's logits only while it lasts, and no product twice. They are those of upstream · loss
/// where that input is given.
class HeadLossOp : public Op {
public:
    explicit HeadLossOp(std::optional<std::int64_t> logits_bytes) : logits_bytes_(logits_bytes) {}

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
        return {{DType::f32, {}}, in[input], in[table]};
    }

    std::vector<Tensor> expand(std::span<const Tensor> in) const override {
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

    bool dispensable(std::size_t output) const override { return output != loss; }
    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        const std::uint32_t factors = 1u << input | 1u << table;
        return {.half_in = factors, .half_out = 1u << d_input, .gemm_operands = factors};
    }

    void lower(Lowering& to) const override {
        const Tensor x = to.in[input], w = to.in[table], targets = to.in[target];
        const Tensor d_x = to.out[d_input], d_w = to.out[d_table];
        const std::int64_t rows = x.rows(), width = w.rows(), pitch = pitch_of(to.device, width);
        const std::int64_t most = chunk(to.device, rows, pitch);
        const Scratch row_loss = to.scratch(rows), count = to.scratch(1);
        const GemmOperand logits{to.scratch(most * pitch), pitch, vector_layout(true)}, weight = matrix(w);
        const GemmOperand d_logits = d_x || d_w ? gradient_of(to, logits, most) : GemmOperand{{}, pitch, logits.form};
        std::optional<Scratch> parts;
        append_count(to, "count_targets", {{"targets", targets}, {"count", count}}, rows);
        for (std::int64_t first = 0; first < rows; first += most) {
            const std::int64_t n = std::min(most, rows - first);
            const GemmOperand x_rows = matrix(x, first, n);
            append(to, {.m = n, .n = width, .k = x.width(), .transpose_b = true}, x_rows, weight, logits, parts);
            append_losses(to, logits, d_logits, n, {targets, first, n}, {row_loss, first, n}, count);
            if (d_x) append(to, {.m = n, .n = x.width(), .k = width}, d_logits, weight, matrix(d_x, first, n), parts);
            if (d_w)
                append(to, {.m = width, .n = x.width(), .k = n, .transpose_a = true, .onto_y = first > 0}, d_logits,
                       x_rows, matrix(d_w), parts);
        }
        append_count(to, "cross_entropy_mean",
                     {{"row_loss", row_loss}, {"targets", targets}, {"loss", to.out[loss]}, {"count", count}}, rows);
    }

private:
    /// Rows at equal distances, and how their pairs lie where rows are even.
    struct GemmOperand {
        ArgValue at;
        std::int64_t pitch;
        std::uint32_t form;
    };
    struct Extents {
        std::int64_t m, n, k;
        bool transpose_a = false, transpose_b = false;
        bool onto_y = false;  // added to what y holds
    };

    static std::uint32_t form(Tensor x) {
        return vector_layout(x, x.width() % 2 == 0 && x.graph().value(x).offset % 2 == 0);
    }
    static bool packed(const GemmOperand& x) { return x.form > vector_layout(true); }
    /// The form, if what is read in pairs is even or packed: packed rows are, or end with a pair that is filled up.
    static std::uint32_t form(const GemmOperand& x, bool in_pairs) {
        return in_pairs || packed(x) ? x.form : vector_layout(false);
    }
    static GemmOperand matrix(Tensor x) { return {x, x.width(), form(x)}; }
    static GemmOperand matrix(Tensor x, std::int64_t first, std::int64_t rows) {
        return {Section{x, first * x.width(), rows * x.width()}, x.width(), form(x)};
    }

    /// Rows of logits begin where pairs do; on a GPU, where its widest loads may begin and cache lines do.
    static std::int64_t pitch_of(const DeviceTraits& device, std::int64_t width) {
        const std::int64_t step = device.cpu ? 2 : 64;
        return (width + step - 1) / step * step;
    }

    /// As many rows as logits_bytes hold, in whole tiles of the products where that is more than one. A CPU has them in
    /// its caches. A GPU reads and writes all of the table's gradient for each chunk: it has as many rows as keep it
    /// busy many times over, if they take no more than a small part of its memory.
    std::int64_t chunk(const DeviceTraits& device, std::int64_t rows, std::int64_t pitch) const {
        constexpr std::int64_t cached = std::int64_t{32} << 20, busy = 8192, share = 16, tile = 64;
        const std::int64_t bytes =
            device.cpu ? cached : std::min({busy * 4 * pitch, device.memory_bytes / share, device.buffer_bytes});
        const std::int64_t most = std::max<std::int64_t>(1, logits_bytes_.value_or(bytes) / (4 * pitch));
        return rows <= most ? rows : most < tile ? most : most / tile * tile;
    }

    /// Where the gradient of `rows` rows of logits lies: over them; or beside them in 16 bits, if products round their
    /// factors to these on a GPU, so that each number is rounded once and moved in half the bytes.
    static GemmOperand gradient_of(Lowering& to, const GemmOperand& logits, std::int64_t rows) {
        if (to.device.cpu || !to.device.matrices) return logits;
        const bool bf16 = to.device.matrices->element == MatrixElement::bf16;
        return {to.scratch(rows * logits.pitch / 2), logits.pitch,
                static_cast<std::uint32_t>(bf16 ? VectorLayout::bf16x2 : VectorLayout::f16x2)};
    }

    /// A kernel of one workgroup that counts rows.
    static void append_count(Lowering& to, std::string kernel, Args args, std::int64_t rows) {
        args.emplace_back("rows", extent(rows));
        to.dispatch({.kernel = std::move(kernel),
                     .constants = {{"GROUP", row_group(to.device, rows)}},
                     .args = std::move(args),
                     .bytes = 8.0 * static_cast<double>(rows)});
    }

    /// y = op(a) · op(b), a and b being one matrix each.
    static void append(Lowering& to, const Extents& size, const GemmOperand& a, const GemmOperand& b,
                       const GemmOperand& y, std::optional<Scratch>& parts) {
        const bool padded_a = !to.device.cpu && std::holds_alternative<Scratch>(a.at);
        append_gemm(to,
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

    /// Each row's loss, and for the derivative the logits' gradient.
    static void append_losses(Lowering& to, const GemmOperand& logits, const GemmOperand& d_logits, std::int64_t rows,
                              const Section& targets, const Section& row_loss, Scratch count) {
        const std::int64_t width = to.in[table].rows();
        const bool differentiates = to.out[d_input] || to.out[d_table],
                   seeded = differentiates && to.in.size() > upstream;
        const RowSweep grid = row_sweep(to.device, rows, width);
        const double elements = static_cast<double>(rows) * static_cast<double>(width);
        to.dispatch({.kernel = "head_loss",
                     .constants = {{"GROUP", grid.group},
                                   {"BLOCK", block(grid.group, width)},
                                   {"LAYOUT", logits.form},
                                   {"LAYOUT_D", d_logits.form},
                                   {"GRADIENT", differentiates},
                                   {"SEEDED", seeded}},
                     .args = {{"logits", logits.at},
                              {"targets", targets},
                              {"count", count},
                              {"d_loss", seeded ? to.in[upstream] : ArgValue{}},
                              {"row_loss", row_loss},
                              {"d_logits", d_logits.at},
                              {"rows", extent(rows)},
                              {"width", extent(width)},
                              {"pitch", extent(logits.pitch)},
                              {"per_group", grid.per_group}},
                     .groups = grid.groups,
                     .flops = (differentiates ? 40.0 : 20.0) * elements,
                     .bytes = (!differentiates    ? 4.0
                               : packed(d_logits) ? 10.0
                                                  : 12.0) *
                              elements});
    }

    std::optional<std::int64_t> logits_bytes_;
};

}  // namespace

Tensor head_loss(Tensor x, Tensor w, Tensor targets, const HeadLossOptions& options) {
    std::vector<Tensor> in{contiguous(x), contiguous(w), contiguous(targets)};
    if (options.d_loss) in.push_back(options.d_loss);
    return x.graph().add(std::make_shared<const HeadLossOp>(options.logits_bytes), std::move(in)).front();
}

}  // namespace vkf
