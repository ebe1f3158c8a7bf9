// Launch policy of kernels that move data.
#pragma once

#include "graph/op.h"

namespace vkf {

/// Ways to sum the gradients of a table's rows. `chains`: one workgroup links the rows of each index to chains, others
/// sum whole chains: few launches, but one row after the other. `sorted`: rows are sorted by index and summed in equal
/// sections.
enum class EmbeddingGradient { chains, sorted };
inline EmbeddingGradient embedding_gradient(const DeviceTraits& device) {
    return device.cpu ? EmbeddingGradient::chains : EmbeddingGradient::sorted;
}

}  // namespace vkf
