// Derivative of a recurrent layer: from the last step to the first, the cell's derivative and the product of its result
// with W_h, as launches of one node.

#include "base/error.h"
#include "base/integers.h"
#include "ops/matmul/gemm.h"
#include "ops/movement/view.h"
#include "ops/recurrent/cell_unit.h"
#include "ops/recurrent/sequence_launch.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Gradients of a [B, T, G·H], of u [T, B, G·H] and of the first state. Those of a and u are the same numbers for an
/// RNN and an LSTM. The cell's kernel writes them in both orders, because products read dense rows faster.
class RecurrentBackwardOp : public Op {
public:
    enum Operand : std::size_t { input, weight, gates, states, cells, lengths, d_outputs, d_last_h, d_last_c };
    enum Result : std::size_t { d_a, d_u, d_first_h, d_first_c };

    RecurrentBackwardOp(Cell cell, bool reverse) : cell_(cell), reverse_(reverse) {}

    std::string_view name() const override { return "recurrent_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& all = in[states].shape;
        const std::int64_t columns = gates_of(cell_) * all.width();
        const TensorType state{DType::f32, {all[1], all.width()}}, absent{DType::f32, {0}},
            results{DType::f32, {all[1], all[0], all.width()}};
        require(in[d_outputs] == results || in[d_outputs] == absent, "the outputs are ", results, ", their gradient ",
                in[d_outputs]);
        for (const std::size_t d : {d_last_h, d_last_c})
            require(in[d] == state || in[d] == absent, "the last state is ", state, ", its gradient ", in[d]);
        std::vector<TensorType> out{{DType::f32, results.shape.with_width(columns)}, in[gates], state};
        if (cell_ == Cell::lstm) out.push_back(state);
        return out;
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const std::int64_t batch = in[states].shape[1];
        const auto width = as_index(in[states].shape.width()), columns = width * as_index(gates_of(cell_));
        const StepOrder order{in[states].shape[0], reverse_};
        const auto or_zero = [](const Array& x, std::size_t i) { return x.at.empty() ? 0.0 : x.at[i]; };
        for (std::int64_t b = 0; b < batch; ++b) {
            std::vector<UnitState> d(width);
            for (std::size_t unit = 0; unit < width; ++unit) {
                const std::size_t i = as_index(b) * width + unit;
                d[unit] = {or_zero(in[d_last_h], i), or_zero(in[d_last_c], i)};
            }
            for (std::int64_t k = order.length; k-- > 0;) {
                const std::size_t row = as_index(b * order.length + order[k]), kept = as_index(order[k] * batch + b);
                if (!in[lengths].at.empty() && static_cast<double>(order[k]) >= in[lengths].at[as_index(b)]) continue;
                for (std::size_t unit = 0; unit < width; ++unit) {
                    const std::size_t i = kept * width + unit;
                    d[unit].h += or_zero(in[d_outputs], row * width + unit);
                    const GateValues a = gates_at(in[input], cell_, row * columns, width, unit),
                                     summed = gates_at(in[gates], cell_, kept * columns, width, unit);
                    const UnitState before{in[states].at[i], or_zero(in[cells], i)};
                    const UnitGradients made = sums_gates(cell_)
                                                   ? step_unit_backward(cell_, summed, {}, before, d[unit])
                                                   : step_unit_backward(cell_, a, summed, before, d[unit]);
                    store_gates(out[d_a], cell_, row * columns, width, unit, made.a);
                    store_gates(out[d_u], cell_, kept * columns, width, unit, made.u);
                    d[unit] = made.before;
                }
                for (std::size_t g = 0; g < columns; ++g)
                    for (std::size_t j = 0; j < width; ++j)
                        d[j].h += out[d_u].at[kept * columns + g] * in[weight].at[g * width + j];
            }
            for (std::size_t unit = 0; unit < width; ++unit) {
                const std::size_t i = as_index(b) * width + unit;
                out[d_first_h].at[i] = d[unit].h;
                if (cell_ == Cell::lstm) out[d_first_c].at[i] = d[unit].c;
            }
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::span in = lowering.in;
        const auto out = [&](std::size_t k) { return k < lowering.out.size() ? lowering.out[k] : Tensor(); };
        const std::int64_t batch = in[states].shape()[1], width = in[states].width();
        const bool has_c = cell_ == Cell::lstm, sums = sums_gates(cell_);
        const bool passes_d_h = in[lengths] || cell_ == Cell::gru;  // not only through u
        const StepOrder order{in[states].shape()[0], reverse_};
        // The gradients of the state, which every step overwrites.
        const Tensor first_h = out(d_first_h), first_c = out(d_first_c);
        const StepRows d_h = first_h ? StepRows(first_h) : StepRows(lowering.scratch(batch * width), width);
        const StepRows d_c = !has_c    ? StepRows()
                             : first_c ? StepRows(first_c)
                                       : StepRows(lowering.scratch(batch * width), width);

        CellUpstream upstream{.d_y = {}, .d_h = StepRows(in[d_last_h]), .d_c = StepRows(in[d_last_c])};
        std::optional<Scratch> parts;
        for (std::int64_t k = order.length; k-- > 0;) {
            const std::int64_t t = order[k];
            const StepRows gates_t = dense_step_of(in[gates], t), d_u_t = dense_step_of(out(d_u), t);
            upstream.d_y = in[d_outputs] ? step_of(in[d_outputs], t) : StepRows();
            lowering.dispatch(cell_backward_launch(lowering.device,
                                                   {.cell = cell_,
                                                    .rows = batch,
                                                    .width = width,
                                                    .a = sums ? gates_t : step_of(in[input], t),
                                                    .u = sums ? StepRows() : gates_t,
                                                    .h = dense_step_of(in[states], t),
                                                    .c = in[cells] ? dense_step_of(in[cells], t) : StepRows(),
                                                    .lengths = in[lengths],
                                                    .step = t},
                                                   upstream,
                                                   {.d_a = out(d_a) ? step_of(out(d_a), t) : StepRows(),
                                                    .d_u = d_u_t,
                                                    .d_h = passes_d_h ? d_h : StepRows(),
                                                    .d_c = d_c}));
            upstream.d_h = d_h;
            upstream.d_c = d_c;
            if (k == 0 && !first_h) continue;
            append_step_product(
                lowering,
                {.rows = batch, .x = d_u_t, .weight = in[weight], .addend = passes_d_h ? d_h : StepRows(), .y = d_h},
                parts);
        }
    }

    bool optional_output(std::size_t output) const override { return output != d_u; }
    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.strided_outputs = 1u << d_a}; }

private:
    Cell cell_;
    bool reverse_;
};

}  // namespace

void append_step_product(Lowering& lowering, const StepProduct& product, std::optional<Scratch>& parts) {
    const Tensor w = product.weight;
    const std::int64_t n = product.transpose ? w.rows() : w.width(), k = product.transpose ? w.width() : w.rows();
    // Pairs must also end where rows do, if they are along n.
    const auto layout = [](const StepRows& rows, std::int64_t width) {
        return vector_layout(in_multiples(rows.at, rows.pitch | width, 2));
    };
    const StepRows weight{w, w.pitch()};
    append_gemm(
        lowering,
        {.shape =
             {.batches = 1, .m = product.rows, .n = n, .k = k, .transpose_a = false, .transpose_b = product.transpose},
         .a = product.x.at,
         .b = w,
         .bias = product.bias ? ArgValue{product.bias} : ArgValue{},
         .aux = product.addend.at,
         .epilogue = product.addend ? Epilogue::add : Epilogue::none,
         .y = product.y.at,
         .layout_a = layout(product.x, 0),
         .layout_b = layout(weight, product.transpose ? 0 : n),
         .layout_aux = layout(product.addend, n),
         .layout_y = layout(product.y, n),
         .a_at = {0, product.x.pitch},
         .b_at = {0, w.pitch()},
         .aux_pitch = product.addend.pitch,
         .y_pitch = product.y.pitch},
        parts);
}

RecurrentGradients recurrent_backward(Cell cell, bool reverse, const RecurrentSaved& saved) {
    const auto dense = [](Tensor x) { return x ? contiguous(x) : x; };
    const std::vector<Tensor> out =
        saved.gates.graph().add(std::make_shared<const RecurrentBackwardOp>(cell, reverse),
                                {saved.input, saved.weight, saved.gates, saved.states, saved.cells, saved.lengths,
                                 saved.d_outputs, dense(saved.d_last.h), dense(saved.d_last.c)});
    using Result = RecurrentBackwardOp::Result;
    return {.d_a = out[Result::d_a],
            .d_u = out[Result::d_u],
            .d_first = {out[Result::d_first_h], cell == Cell::lstm ? out[Result::d_first_c] : Tensor()}};
}

}  // namespace vkf
