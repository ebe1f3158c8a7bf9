// Exact numbers of a stack of blocks, divided as the formulas of models/families/accounting.h divide them, and
// sentences on the reasons for which they differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/inspect/analysis.h"
#include "models/families/accounting.h"
#include "models/scope.h"
#include "models/train/step_graphs.h"

namespace vkf {

/// Parameters of all blocks of a stack.
struct BlockParameters {
    std::int64_t maps = 0;         // weights of linear maps, which the formulas count
    std::int64_t second_maps = 0;  // weights of second output maps of attention variants
    std::int64_t biases = 0;       // of linear maps
    std::int64_t adapters = 0;
    std::int64_t kernels = 0;  // of convolutions
    std::int64_t others = 0;   // norms, and parameters of attention variants

    std::int64_t all() const { return maps + second_maps + biases + adapters + kernels + others; }
};

/// Parameters of the blocks PATH.0, PATH.1, …
BlockParameters block_parameters(const Parameters& parameters, std::string_view path);
/// Number of parameters of the scope `path`.
std::int64_t parameters_in(const Parameters& parameters, std::string_view path);

struct BlockFlops {
    double products = 0;   // of matrices
    double attention = 0;  // the ops of attention, with their variants' epilogues
    double others = 0;     // norms, activations, rotations, …

    double all() const { return products + attention + others; }
    BlockFlops over(double count) const { return {products / count, attention / count, others / count}; }
};

/// FLOPs of the blocks of a scope.
BlockFlops block_flops(const Analysis& analysis, std::string_view path);

/// Bytes of the tensors of a scope that exist when the loss is known and are used later.
double kept_bytes(const Analysis& step, std::string_view path);

std::string parameter_difference(const ModelConfig& config, const BlockSizes& sizes, const BlockParameters& exact);
/// `forward` and `training` are of one token in one block.
std::string flops_difference(const BlockFormulas& block, const BlockFlops& forward, const BlockFlops& training);
/// Says that formulas of full attention do not describe the model's kind of attention; "" if they do.
std::string kind_sentence(const AttentionConfig& attention);
std::string kept_sentence(const BlockFormulas& block, const TrainerConfig& config);

}  // namespace vkf
