// Weights of cross-attention: what a translation model reads of a source when it writes a target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/config/model_config.h"
#include "models/scope.h"
#include "program/compiled_graph.h"

namespace vkf {

/// Weights of one layer, the mean of its heads: element t·S + s is the share of source token s when target token t is
/// written.
using AlignmentWeights = std::vector<float>;

/// A program that reads sources with their targets, over one set of weights.
class CrossAttention {
public:
    /// Reserves the weights, which the caller then loads. Sources and targets have at most so many tokens.
    CrossAttention(Device& device, const ModelConfig& config, std::int64_t source, std::int64_t target);

    State& state() { return state_; }
    const Parameters& parameters() const { return parameters_; }

    /// Weights of every layer; a target has its end, but not its beginning.
    std::vector<AlignmentWeights> weights(std::span<const std::int32_t> source, std::span<const std::int32_t> target);

private:
    std::int64_t source_, target_;
    std::int32_t begin_;
    State state_;
    Parameters parameters_;
    std::vector<std::int64_t> heads_;  // of the layers
    std::unique_ptr<CompiledGraph> graph_;
};

}  // namespace vkf
