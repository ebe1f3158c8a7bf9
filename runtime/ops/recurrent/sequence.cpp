// A layer as one op: for each step the product of the state and the cell, as launches of one node.
#include "ops/recurrent/sequence.h"

#include "base/error.h"
#include "base/integers.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/copy.h"
#include "ops/movement/view.h"
#include "ops/recurrent/cell_unit.h"
#include "ops/recurrent/sequence_launch.h"
#include "ops/rows/reduce.h"

namespace vkf {

namespace {

class RecurrentOp : public Op {
    enum Operand : std::size_t { input, weight, bias, first_h, first_c, lengths };
    /// States, gates and cells are kept for the derivative, [T, B, …]: products read the rows of a step faster if these
    /// are dense than at a pitch that is a multiple of the distance between lines of a cache's set.
    enum Result : std::size_t { outputs, last_h, states, gates, last_c, cells };

public:
    RecurrentOp(Cell cell, bool reverse) : cell_(cell), reverse_(reverse) {}

    std::string_view name() const override { return cell_ == Cell::rnn ? "rnn" : cell_ == Cell::lstm ? "lstm" : "gru"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType &a = in[input], &w = in[weight];
        const std::int64_t count = gates_of(cell_);
        require(a.dtype == DType::f32 && a.shape.rank() == 3 && a.shape.elements() > 0 && a.shape.width() % count == 0,
                "a is ", a, ", wanted f32[B, T, ", count, "·H]");
        const std::int64_t batch = a.shape[0], width = a.shape.width() / count;
        const auto check = [](std::string_view name, const TensorType& type, const TensorType& wanted, bool optional) {
            require(type == wanted || (optional && type.shape == Shape{0}), name, " is ", type, ", wanted ", wanted);
        };
        const TensorType state{DType::f32, {batch, width}}, all{DType::f32, {a.shape[1], batch, width}};
        check("weight_h", w, {DType::f32, {count * width, width}}, false);
        check("bias_h", in[bias], {DType::f32, {count * width}}, true);
        check("the initial h", in[first_h], state, false);
        check("the initial c", in[first_c], cell_ == Cell::lstm ? state : TensorType{DType::f32, {0}}, false);
        check("lengths", in[lengths], {DType::i32, {batch}}, true);
        std::vector<TensorType> out{
            {DType::f32, a.shape.with_width(width)}, state, all, {DType::f32, all.shape.with_width(count * width)}};
        if (cell_ == Cell::lstm) out.insert(out.end(), {state, all});
        return out;
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const std::int64_t batch = in[input].shape[0], length = in[input].shape[1];
        const auto width = as_index(out[last_h].shape.width()), columns = width * as_index(gates_of(cell_));
        const bool has_c = cell_ == Cell::lstm;
        out[last_h].at = in[first_h].at;
        if (has_c) out[last_c].at = in[first_c].at;
        for (std::int64_t k = 0; k < batch * length; ++k) {
            const auto b = as_index(k % batch), t = as_index(reverse_ ? length - 1 - k / batch : k / batch);
            const std::size_t row = b * as_index(length) + t, kept = t * as_index(batch) + b;
            double* h = out[last_h].at.data() + b * width;  // the state that this step changes
            std::copy_n(h, width, out[states].at.begin() + static_cast<std::ptrdiff_t>(kept * width));
            double* u = out[gates].at.data() + kept * columns;
            for (std::size_t g = 0; g < columns; ++g) {
                u[g] = in[bias].at.empty() ? 0.0 : in[bias].at[g];
                for (std::size_t j = 0; j < width; ++j) u[g] += in[weight].at[g * width + j] * h[j];
                if (sums_gates(cell_)) u[g] += in[input].at[row * columns + g];
            }
            const bool ended = !in[lengths].at.empty() && static_cast<double>(t) >= in[lengths].at[b];
            for (std::size_t unit = 0; unit < width; ++unit) {
                UnitState state{h[unit], has_c ? out[last_c].at[b * width + unit] : 0.0};
                if (has_c) out[cells].at[kept * width + unit] = state.c;
                if (ended) continue;
                const GateValues a = gates_at(in[input], cell_, row * columns, width, unit),
                                 summed = gates_at(out[gates], cell_, kept * columns, width, unit);
                state = sums_gates(cell_) ? step_unit(cell_, summed, {}, state) : step_unit(cell_, a, summed, state);
                h[unit] = out[outputs].at[row * width + unit] = state.h;
                if (has_c) out[last_c].at[b * width + unit] = state.c;
            }
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        const bool has_c = cell_ == Cell::lstm;
        const Tensor h = at.out[states];
        const RecurrentGradients made =
            recurrent_backward(cell_, reverse_,
                               {.input = sums_gates(cell_) ? Tensor() : at.in[input],
                                .weight = at.in[weight],
                                .gates = at.out[gates],
                                .states = h,
                                .cells = has_c ? at.out[cells] : Tensor(),
                                .lengths = at.in[lengths],
                                .d_outputs = at.d_out[outputs],
                                .d_last = {.h = at.d_out[last_h], .c = has_c ? at.d_out[last_c] : Tensor()}});
        std::vector<Tensor> d_in(at.in.size());
        d_in[input] = made.d_a;
        const auto rows = [](Tensor x) { return reshape(x, {x.rows(), x.width()}); };
        if (at.wanted[weight]) d_in[weight] = matmul(rows(made.d_u), rows(h), {.transpose_a = true});
        if (at.wanted[bias]) d_in[bias] = column_sum(made.d_u);
        d_in[first_h] = made.d_first.h;
        d_in[first_c] = made.d_first.c;
        return d_in;
    }

    /// States are kept for each step, or, without a derivative, overwritten by the next.
    void lower(Lowering& lowering) const override {
        const Tensor a = lowering.in[input], w = lowering.in[weight];
        const bool has_c = cell_ == Cell::lstm, sums = sums_gates(cell_);
        const std::int64_t batch = a.shape()[0], length = a.shape()[1], width = w.width(), columns = w.rows();
        const auto out = [&](std::size_t k) { return k < lowering.out.size() ? lowering.out[k] : Tensor(); };
        const auto room = [&](std::size_t k, std::int64_t row) {
            return out(k) ? StepRows() : StepRows(lowering.scratch(batch * row), row);
        };
        const StepRows one_h = room(states, width), one_u = room(gates, columns),
                       one_c = has_c ? room(cells, width) : StepRows();
        const auto kept = [&](std::size_t k, std::int64_t t, const StepRows& one) {
            return one ? one : dense_step_of(out(k), t);
        };
        const StepOrder order{length, reverse_};
        append_first(lowering, lowering.in[first_h], out(states), order);
        append_first(lowering, lowering.in[first_c], out(cells), order);

        StepRows h(lowering.in[first_h]), c(lowering.in[first_c]);
        std::optional<Scratch> parts;
        for (std::int64_t k = 0; k < length; ++k) {
            const std::int64_t t = order[k];
            const bool last = k + 1 == length;
            const StepRows a_t = step_of(a, t), u = kept(gates, t, one_u);
            const StepRows h_next = last ? StepRows(out(last_h)) : kept(states, order[k + 1], one_h),
                           c_next = !has_c ? StepRows()
                                    : last ? StepRows(out(last_c))
                                           : kept(cells, order[k + 1], one_c);
            append_step_product(lowering,
                                {.rows = batch,
                                 .x = h,
                                 .weight = w,
                                 .transpose = true,
                                 .bias = lowering.in[bias],
                                 .addend = sums ? a_t : StepRows(),
                                 .y = u},
                                parts);
            lowering.dispatch(cell_launch(
                lowering.device,
                {.cell = cell_,
                 .rows = batch,
                 .width = width,
                 .a = sums ? u : a_t,
                 .u = sums ? StepRows() : u,
                 .h = h,
                 .c = c,
                 .lengths = lowering.in[lengths],
                 .step = t},
                {.h_next = h_next, .c_next = c_next, .y = out(outputs) ? step_of(out(outputs), t) : StepRows()}));
            h = h_next;
            c = c_next;
        }
    }

    bool optional_output(std::size_t output) const override { return output != last_h && output != last_c; }
    /// Both directions write into one tensor of their concatenated outputs.
    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.strided_outputs = 1u << outputs}; }

private:
    /// Copies the state before the first step to the place of the step's own.
    static void append_first(Lowering& lowering, Tensor first, Tensor all, const StepOrder& order) {
        if (!first || !all) return;
        const std::int64_t size = first.elements();
        lowering.dispatch(strided_copy(lowering.device, first, all, {{size, 1, 1}}, order[0] * size));
    }

    Cell cell_;
    bool reverse_;
};

RecurrentSequence add_layer(Cell cell, Tensor a, Tensor weight_h, Tensor bias_h, const RecurrentOptions& options) {
    Graph& graph = a.graph();
    require(a.shape().rank() == 3 && a.width() % gates_of(cell) == 0, "recurrent layer: a is ", a.type(),
            ", wanted f32[B, T, ", gates_of(cell), "·H]");
    const auto state = [&](Tensor x) {
        return x ? contiguous(x) : fill(graph, {a.shape()[0], a.width() / gates_of(cell)}, 0.0f);
    };
    require(cell == Cell::lstm || !options.initial.c, "recurrent layer: an initial c is given, only an LSTM has c");
    const std::vector<Tensor> out = graph.add(
        std::make_shared<const RecurrentOp>(cell, options.reverse),
        {a, weight_h, bias_h, state(options.initial.h), cell == Cell::lstm ? state(options.initial.c) : Tensor(),
         options.lengths ? contiguous(options.lengths) : Tensor()});
    return {.outputs = out[0], .last = {out[1], cell == Cell::lstm ? out[4] : Tensor()}};
}

}  // namespace

RecurrentSequence rnn(Tensor a, Tensor weight_h, Tensor bias_h, const RecurrentOptions& options) {
    return add_layer(Cell::rnn, a, weight_h, bias_h, options);
}

RecurrentSequence lstm(Tensor a, Tensor weight_h, Tensor bias_h, const RecurrentOptions& options) {
    return add_layer(Cell::lstm, a, weight_h, bias_h, options);
}

RecurrentSequence gru(Tensor a, Tensor weight_h, Tensor bias_h, const RecurrentOptions& options) {
    return add_layer(Cell::gru, a, weight_h, bias_h, options);
}

}  // namespace vkf
