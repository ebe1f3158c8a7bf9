// Softmax of rows, masked where wanted.
#pragma once

#include "graph/graph.h"

namespace vkf {

struct SoftmaxOptions {
    bool causal = false;         // row i of the last two axes [T, S] sees columns j ≤ i + S − T
    bool mask_diagonal = false;  // and not j = i + S − T
};

/// softmax over the last axis of the columns a row may see; a row that sees none gives zeros.
Tensor softmax(Tensor x, const SoftmaxOptions& options = {});

}  // namespace vkf
