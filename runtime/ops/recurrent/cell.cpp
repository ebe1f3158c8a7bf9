// Cells as ops on one step, each by one kernel forward and one backward.
#include "ops/recurrent/cell.h"

#include "base/error.h"
#include "base/integers.h"
#include "ops/movement/view.h"
#include "ops/recurrent/cell_launch.h"
#include "ops/recurrent/cell_unit.h"

namespace vkf {

namespace {

std::string_view spelled(Cell cell) {
    return cell == Cell::rnn ? "rnn_cell" : cell == Cell::lstm ? "lstm_cell" : "gru_cell";
}

/// Operands of a cell and of its derivative, which has the gradients of the next state in addition.
enum CellOperand : std::size_t { from_input, from_state, state_h, state_c, ends, next_d_h, next_d_c };

bool is_absent(const TensorType& type) {
    return type.shape == Shape{0};
}

/// Type of a state, [B, H], if all operands fit.
TensorType state_type(Cell cell, bool has_lengths, std::span<const TensorType> in) {
    const TensorType& a = in[from_input];
    const std::int64_t gates = gates_of(cell);
    require(a.dtype == DType::f32 && a.shape.rank() == 2 && a.shape.width() % gates == 0 && a.shape.elements() > 0,
            "a is ", a, ", wanted f32[B, ", gates, "·H]");
    require(in[from_state] == a, "u is ", in[from_state], ", a is ", a);
    const TensorType state{DType::f32, {a.shape[0], a.shape.width() / gates}};
    const bool needs_h = cell == Cell::gru || has_lengths;
    require(in[state_h] == state || (!needs_h && is_absent(in[state_h])), "h is ", in[state_h], ", wanted ", state);
    require(cell != Cell::lstm || in[state_c] == state, "c is ", in[state_c], ", wanted ", state);
    const TensorType lengths{DType::i32, {a.shape[0]}};
    require(has_lengths ? in[ends] == lengths : is_absent(in[ends]), "lengths are ", in[ends], ", wanted ", lengths);
    return state;
}

CellStep cell_step(Cell cell, std::span<const Tensor> in, std::int64_t step) {
    const Tensor a = in[from_input];
    return {.cell = cell,
            .rows = a.rows(),
            .width = a.width() / gates_of(cell),
            .a = StepRows(a),
            .u = StepRows(in[from_state]),
            .h = StepRows(in[state_h]),
            .c = StepRows(in[state_c]),
            .lengths = in[ends],
            .step = step};
}

double element(const Array& x, std::size_t i) {
    return x.at.empty() ? 0.0 : x.at[i];
}

/// Gradients of a, u, h and c from those of the next state. c is an LSTM's.
class CellBackwardOp : public Op {
public:
    CellBackwardOp(Cell cell, bool has_lengths, std::int64_t step)
        : cell_(cell), has_lengths_(has_lengths), step_(step) {}

    std::string_view name() const override { return "recurrent_cell_backward"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const TensorType state = state_type(cell_, has_lengths_, in);
        for (const std::size_t d : {next_d_h, next_d_c})
            require(in[d] == state || is_absent(in[d]), "the gradient is ", in[d], ", the state ", state);
        std::vector<TensorType> out{in[from_input], in[from_state], state};
        if (cell_ == Cell::lstm) out.push_back(state);
        return out;
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = as_index(out[2].shape.width()), gates = as_index(gates_of(cell_));
        for (std::size_t i = 0; i < out[2].at.size(); ++i) {
            const std::size_t row = i / width, unit = i % width, first = row * gates * width;
            const UnitState d{element(in[next_d_h], i), element(in[next_d_c], i)};
            UnitGradients made{.before = d};
            if (!has_lengths_ || static_cast<double>(step_) < in[ends].at[row])
                made = step_unit_backward(cell_, gates_at(in[from_input], cell_, first, width, unit),
                                          gates_at(in[from_state], cell_, first, width, unit),
                                          {element(in[state_h], i), element(in[state_c], i)}, d);
            store_gates(out[0], cell_, first, width, unit, made.a);
            store_gates(out[1], cell_, first, width, unit, made.u);
            out[2].at[i] = made.before.h;
            if (cell_ == Cell::lstm) out[3].at[i] = made.before.c;
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::span out = lowering.out;
        lowering.dispatch(cell_backward_launch(
            lowering.device, cell_step(cell_, lowering.in, step_),
            {.d_y = {}, .d_h = StepRows(lowering.in[next_d_h]), .d_c = StepRows(lowering.in[next_d_c])},
            {.d_a = StepRows(out[0]),
             .d_u = StepRows(out[1]),
             .d_h = StepRows(out[2]),
             .d_c = StepRows(cell_ == Cell::lstm ? out[3] : Tensor())}));
    }

    KernelTraits kernel_traits(std::span<const Tensor>) const override { return {.strided_outputs = 0b1}; }
    bool optional_output(std::size_t) const override { return true; }

private:
    Cell cell_;
    bool has_lengths_;
    std::int64_t step_;
};

class CellOp : public Op {
public:
    CellOp(Cell cell, bool has_lengths, std::int64_t step) : cell_(cell), has_lengths_(has_lengths), step_(step) {}

    std::string_view name() const override { return spelled(cell_); }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(step_ >= 0, "the step is ", step_, ", wanted 0 or more");
        return std::vector(cell_ == Cell::lstm ? 2 : 1, state_type(cell_, has_lengths_, in));
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = as_index(out[0].shape.width()), gates = as_index(gates_of(cell_));
        for (std::size_t i = 0; i < out[0].at.size(); ++i) {
            const std::size_t row = i / width, unit = i % width, first = row * gates * width;
            UnitState state{element(in[state_h], i), element(in[state_c], i)};
            if (!has_lengths_ || static_cast<double>(step_) < in[ends].at[row])
                state = step_unit(cell_, gates_at(in[from_input], cell_, first, width, unit),
                                  gates_at(in[from_state], cell_, first, width, unit), state);
            out[0].at[i] = state.h;
            if (cell_ == Cell::lstm) out[1].at[i] = state.c;
        }
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        std::vector<Tensor> in(at.in.begin(), at.in.end());
        for (std::size_t k = 0; k < 2; ++k) {
            const Tensor d = k < at.d_out.size() ? at.d_out[k] : Tensor();
            in.push_back(d ? contiguous(d) : d);
        }
        std::vector<Tensor> d_in = at.in[from_input].graph().add(
            std::make_shared<const CellBackwardOp>(cell_, has_lengths_, step_), std::move(in));
        if (!at.in[state_h] || (cell_ != Cell::gru && !has_lengths_)) d_in[state_h] = {};
        d_in.resize(at.in.size());
        return d_in;
    }

    void lower(Lowering& lowering) const override {
        lowering.dispatch(cell_launch(lowering.device, cell_step(cell_, lowering.in, step_),
                                      {.h_next = StepRows(lowering.out[0]),
                                       .c_next = StepRows(cell_ == Cell::lstm ? lowering.out[1] : Tensor()),
                                       .y = {}}));
    }

    bool may_alias(std::size_t output, std::size_t input) const override { return input == state_h + output; }

private:
    Cell cell_;
    bool has_lengths_;
    std::int64_t step_;
};

RecurrentState add_cell(Cell cell, Tensor a, Tensor u, const RecurrentState& before, const SequenceStep& time) {
    const auto dense = [](Tensor x) { return x ? contiguous(x) : x; };
    const std::vector<Tensor> next =
        a.graph().add(std::make_shared<const CellOp>(cell, static_cast<bool>(time.lengths), time.step),
                      {a, dense(u), dense(before.h), dense(before.c), dense(time.lengths)});
    return {next[0], cell == Cell::lstm ? next[1] : Tensor()};
}

}  // namespace

Tensor rnn_cell(Tensor a, Tensor u, Tensor h, const SequenceStep& time) {
    return add_cell(Cell::rnn, a, u, {.h = h}, time).h;
}

RecurrentState lstm_cell(Tensor a, Tensor u, const RecurrentState& before, const SequenceStep& time) {
    return add_cell(Cell::lstm, a, u, before, time);
}

Tensor gru_cell(Tensor a, Tensor u, Tensor h, const SequenceStep& time) {
    return add_cell(Cell::gru, a, u, {.h = h}, time).h;
}

}  // namespace vkf
