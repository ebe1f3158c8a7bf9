// A case of a table made a graph, and run: what the checks of kernels share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "op_check.h"
#include "program/program.h"

namespace vkf::test {

/// With VKFORMER_TEST_FORMAT set to bf16 or f16, whatever may be kept in 16 bits is: see
/// passes/assign_storage_types.h.
Format format_under_test();

/// What packing may change beside the interpreter, which rounds what is kept in 16 bits, as kernels do. A number that
/// lies next to the middle between two others may be rounded to either: that is one unit in the last place, and another
/// by those it was made from.
double packed_units(Format format);
/// The same near 0, where fp16's numbers are 2^-24 apart, and devices may take what is below 2^-126 for 0.
double packed_least(Format format);

/// A case as a graph: inputs, outputs "y0", …, and for each differentiable operand its gradient "d_x0", … of
/// Σ <output, weight>, with weights as further inputs "w0", ….
struct CaseGraph {
    Graph graph;
    Arrays leaves;
    std::map<std::string, Tensor> kept;  // what becomes of a leaf before an op sees it
    std::vector<std::string> gradient_names;

    CaseGraph(const OpCase& c, bool with_gradients);
};

/// Whether an operand has a gradient.
bool differentiable(const OpCase&);

/// The leaves as ops see them: rounded where they are kept in 16 bits.
Arrays as_kept(const CaseGraph&);

/// Outputs by name.
using Bits = std::map<std::string, std::vector<float>>;

/// Runs a case, compares guard bands, a second run and a run with shared memory, and returns what it computed.
Bits run_checked(CaseGraph&, const ProgramOptions& lowering);

}  // namespace vkf::test
