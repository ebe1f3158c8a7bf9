// The check of a case's kernels on a device: results against double, memory around them, and repeated runs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/matrix_shape.h"
#include "checks/case_graph.h"
#include "checks/op_case.h"
#include "program/program.h"

namespace vkf {
class Device;
}

namespace vkf::checks {

/// Largest relative difference that packing may cause between kernels and the interpreter, which both round values
/// stored in 16 bits. A number close to the middle between two 16-bit neighbours may be rounded to either: that is one
/// unit in the last place, and a second one comes from the operands that the number was computed from.
double packed_units(Format format);
/// Largest absolute difference near 0, where fp16's numbers are 2^-24 apart and devices may flush numbers below 2^-126
/// to 0.
double packed_least(Format format);

/// Outputs by name. i32 outputs are exact up to 2^24.
using Bits = std::map<std::string, std::vector<float>>;

/// Outputs of a case's graph, and faults of its kernels other than wrong values.
struct CaseRun {
    Bits outputs;
    std::vector<std::string> faults;
};

/// Runs a graph three times: twice with guard bands around every tensor and NaN in unused memory, then with tensors
/// that share memory. Faults are bytes written outside of a tensor, and runs whose bits differ.
CaseRun run_case(Device& device, CaseGraph& graph, const ProgramOptions& lowering);

/// Values from which bounds are computed.
struct BoundedRun {
    Arrays leaves;          // inputs "x0", "x1", … and weights of the outputs "w0", … as kernels read them
    Arrays wanted;          // outputs in double
    Format format;          // in which values are stored
    MatrixElement element;  // type to which matrices round their operands
    double packed;          // largest relative error of a number stored in 16 bits; 0 for fp32
    double packed_least;    // absolute error that is allowed in addition, near 0
};

/// Largest error of each element of the outputs "y0", … and "d_x0", ….
using Bounds = std::function<Arrays(const BoundedRun&)>;

/// Bounds of products of matrices whose operands are rounded to 16 bits: (2 u + terms · 2^-24) · Σ|a||b|, u = 2^-11 for
/// fp16 or 2^-8 for bf16; `terms` is the length of the case's longest sum. For cases of matmul alone without
/// activations.
Bounds product_bounds(const OpCase& c, double terms);

/// A case with bounds of its own.
struct BoundedCase {
    OpCase c;
    Bounds bounds;
};

/// The element of an output with the largest error, measured by its bound.
struct OutputError {
    std::string output;
    Shape shape;
    std::size_t element = 0;
    double found = 0, wanted = 0;
    double share = 0;  // error divided by its bound: above 1, the kernel is wrong
};

/// "d_x0, element 17 of [5, 33]: 0.25, wanted 0.5 (3.1 times its bound)"
std::string text_of(const OutputError& error);

struct KernelCheck {
    std::vector<OutputError> errors;  // one per output, and one more if fused kernels compute it otherwise
    std::vector<std::string> faults;
    Bits outputs;

    /// The largest share of a bound.
    double worst() const;
    /// Faults, and errors above their bounds, one line each.
    std::vector<std::string> failures() const;
};

/// Checks the kernels that `lowering` chooses for a case, values stored in `format`, by the case's own bounds. Graphs
/// with nodes that can be fused are checked both ways.
KernelCheck check_kernels(Device& device, const OpCase& c, Format format, const ProgramOptions& lowering);

/// Checks kernels by other bounds than the case's own, without fusion. Products round their operands to the elements of
/// lowering.traits' matrices, if there are any.
KernelCheck check_bounded_kernels(Device& device, const OpCase& c, Format format, const Bounds& bounds,
                                  const ProgramOptions& lowering);

}  // namespace vkf::checks
