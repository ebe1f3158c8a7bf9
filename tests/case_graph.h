// Builds a graph from a case of a table and runs it; shared by the checks of kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "op_check.h"
#include "program/program.h"

namespace vkf::test {

/// Format of $VKFORMER_TEST_FORMAT, bf16 or f16, in which everything is stored that may be stored in 16 bits (see
/// passes/assign_storage_types.h); f32 if it is not set.
Format format_under_test();

/// Largest relative difference that packing may cause between kernels and the interpreter, which both round values
/// stored in 16 bits. A number close to the middle between two 16-bit neighbours may be rounded to either: that is one
/// unit in the last place, and a second one comes from the operands that the number was computed from.
double packed_units(Format format);
/// Largest absolute difference near 0, where fp16's numbers are 2^-24 apart and devices may flush numbers below 2^-126
/// to 0.
double packed_least(Format format);

/// A case as a graph: inputs, outputs "y0", …, and for each differentiable operand its gradient "d_x0", … of
/// Σ <output, weight>, with weights as further inputs "w0", ….
struct CaseGraph {
    Graph graph;
    Arrays leaves;
    std::map<std::string, Tensor> kept;  // per leaf: the tensor that ops read, which may be a copy in 16 bits
    std::vector<std::string> gradient_names;

    CaseGraph(const OpCase& c, bool with_gradients);
};

/// True if any operand has a gradient.
bool differentiable(const OpCase&);

/// Leaves as ops read them: rounded if they are stored in 16 bits.
Arrays as_kept(const CaseGraph&);

/// Outputs by name.
using Bits = std::map<std::string, std::vector<float>>;

/// Runs a case and returns its outputs. Checks guard bands, and that a second run and a run whose tensors share memory
/// give the same bits.
Bits run_checked(CaseGraph&, const ProgramOptions& lowering);

}  // namespace vkf::test
