// Launches of the kernels of recurrent cells, for the cells and for ops on whole sequences.
#pragma once

#include "graph/op.h"
#include "ops/recurrent/cell.h"

namespace vkf {

/// One row per sequence, `pitch` elements between rows; or none.
struct StepRows {
    ArgValue at = {};
    std::int64_t pitch = 0;

    StepRows() = default;
    StepRows(ArgValue memory, std::int64_t distance) : at(std::move(memory)), pitch(distance) {}
    /// Rows of a tensor [B, W]; none if it is absent.
    explicit StepRows(Tensor x);
    explicit operator bool() const { return !std::holds_alternative<std::monostate>(at); }
};

/// Rows of step t of x, [B, T, W].
StepRows step_of(Tensor x, std::int64_t t);
/// Rows of step t of x, [T, B, W], which are dense.
StepRows dense_step_of(Tensor x, std::int64_t t);

/// Rows and their widths, common to both directions. Without u, a is the sum of both.
struct CellStep {
    Cell cell;
    std::int64_t rows, width;  // sequences and hidden units
    StepRows a, u, h, c;
    Tensor lengths;  // i32 [B], or absent
    std::int64_t step;
};

/// h_next and c_next are the state after the step; y, if present, is h_next, or 0 in rows that have ended.
struct CellOutputs {
    StepRows h_next, c_next, y;
};
Dispatch cell_launch(const DeviceTraits& device, const CellStep& step, const CellOutputs& outputs);

/// Gradients of the state after a step; d_y is one more of h, which rows that have ended do not have. d_h and d_c are
/// dense. Each may be absent.
struct CellUpstream {
    StepRows d_y, d_h, d_c;
};
/// Gradients that are wanted. If u is present, d_u has its pitch. d_h and d_c, of the state before, are
/// dense, and may be the memory of those in CellUpstream; d_h leaves out what flows through u.
struct CellGradients {
    StepRows d_a, d_u, d_h, d_c;
};
Dispatch cell_backward_launch(const DeviceTraits& device, const CellStep& step, const CellUpstream& upstream,
                              const CellGradients& gradients);

}  // namespace vkf
