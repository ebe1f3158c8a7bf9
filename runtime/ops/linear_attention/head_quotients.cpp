#include "ops/linear_attention/head_quotients.h"

#include "base/error.h"
#include "base/integers.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

enum QuotientOperand : std::size_t { sums, quotient_lengths, quotient_key_lengths, d_quotients };

/// Shape of the quotients [B, T, H·D], and what both directions share.
struct QuotientOptions {
    Shape shape;
    HeadChunks chunks;
    float least;

    std::int64_t width() const { return shape.width() / chunks.heads; }

    /// Calls `visit(o, y, divisor)` with the first elements of each head's row of o and of the matrices' row that holds
    /// it, where the divisor is large enough.
    template <class Visit>
    void each_quotient(std::span<const Array> in, const Visit& visit) const {
        for (std::int64_t b = 0; b < shape[0]; ++b) {
            const MaskRow counted = chunks.counted(shape[1], b, in[quotient_lengths], in[quotient_key_lengths]);
            for (std::int64_t place = 0; place < shape[1] * chunks.heads; ++place) {
                const auto row = chunks.matrix_row(counted, b, place / chunks.heads, place % chunks.heads);
                if (!row) continue;
                const std::size_t y_at = as_index(*row * in[sums].shape.width());
                const double divisor = in[sums].at[y_at + as_index(width())];
                if (divisor <= static_cast<double>(least)) continue;
                visit(as_index((b * shape[1] * chunks.heads + place) * width()), y_at, divisor);
            }
        }
    }

    void append(Dispatch& made, Tensor y, Tensor o) const {
        made.constants.insert(made.constants.end(),
                              {{"LEAST", least}, {"LAYOUT_X", vector_layout(o, even(o) && width() % 2 == 0)}});
        made.flops = 4.0 * static_cast<double>(y.elements());
        made.bytes = 4.0 * static_cast<double>(o.elements() + y.elements());
    }
};

/// The gradient of the sums from the sums, the lengths and the gradient of the quotients.
class HeadQuotientsBackwardOp : public Op {
public:
    explicit HeadQuotientsBackwardOp(QuotientOptions options) : options_(std::move(options)) {}

    std::string_view name() const override { return "head_quotients_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType wanted{DType::f32, options_.shape};
        require(in[d_quotients] == wanted, "the gradient is ", in[d_quotients], ", wanted ", wanted);
        return {in[sums]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = as_index(options_.width());
        options_.each_quotient(in, [&](std::size_t o_at, std::size_t y_at, double divisor) {
            double* d_y = &out[0].at[y_at];
            for (std::size_t j = 0; j < width; ++j) {
                const double d_o = in[d_quotients].at[o_at + j];
                d_y[j] = d_o / divisor;
                d_y[width] -= d_o * in[sums].at[y_at + j] / (divisor * divisor);
            }
        });
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor y = lowering.in[sums], d_o = lowering.in[d_quotients];
        Dispatch made = options_.chunks.by_matrices(lowering.device, options_.shape, y.width(),
                                                    lowering.in[quotient_lengths], lowering.in[quotient_key_lengths]);
        made.kernel = "head_quotients_backward";
        options_.append(made, y, d_o);
        made.args.insert(made.args.end(),
                         {{"y", y}, {"d_o", d_o}, {"d_y", lowering.out[0]}, {"d_o_pitch", checked_u32(d_o.pitch())}});
        lowering.dispatch(std::move(made));
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        return {.half_in = options_.width() % 2 == 0 ? 1u << d_quotients : 0u};
    }

private:
    QuotientOptions options_;
};

class HeadQuotientsOp : public Op {
public:
    explicit HeadQuotientsOp(QuotientOptions options) : options_(std::move(options)) {}

    std::string_view name() const override { return "head_quotients"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType o{DType::f32, options_.shape};
        options_.chunks.check(o, in[quotient_lengths], in[quotient_key_lengths]);
        const std::int64_t columns = in[sums].shape.width();
        const TensorType wanted = options_.chunks.matrices(o, columns);
        require(in[sums] == wanted && columns > options_.width() && columns % 8 == 0, "the sums are ", in[sums],
                ", wanted ", wanted, " with more than ", options_.width(), " columns, a multiple of 8");
        return {o};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        options_.each_quotient(in, [&](std::size_t o_at, std::size_t y_at, double divisor) {
            for (std::size_t j = 0; j < as_index(options_.width()); ++j)
                out[0].at[o_at + j] = in[sums].at[y_at + j] / divisor;
        });
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{add_one(at.in[sums].graph(), HeadQuotientsBackwardOp(options_),
                                   {at.in[sums], at.in[quotient_lengths], at.in[quotient_key_lengths], at.d_out[0]}),
                           Tensor(), Tensor()};
    }

    void lower(Lowering& lowering) const override {
        const Tensor y = lowering.in[sums], o = lowering.out[0];
        Dispatch made = options_.chunks.by_heads(lowering.device, options_.shape, y.width(),
                                                 lowering.in[quotient_lengths], lowering.in[quotient_key_lengths]);
        made.kernel = "head_quotients";
        options_.append(made, y, o);
        made.args.insert(made.args.end(), {{"y", y}, {"o", o}, {"o_pitch", checked_u32(o.pitch())}});
        lowering.dispatch(std::move(made));
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override {
        return {.half_out = options_.width() % 2 == 0 ? 1u : 0u, .strided_outputs = 1u};
    }

private:
    QuotientOptions options_;
};

}  // namespace

Tensor head_quotients(Tensor y, std::int64_t batch, std::int64_t length, std::int64_t width, const HeadChunks& chunks,
                      float least) {
    return add_one(y.graph(), HeadQuotientsOp({{batch, length, chunks.heads * width}, chunks, least}),
                   {y, chunks.lengths, chunks.key_lengths});
}

}  // namespace vkf
