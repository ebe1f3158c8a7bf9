// Results of `vkformer heads`: a table, a document, pictures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/eval/head_study.h"

namespace vkf {

/// A head without which the loss is `loss`: alone, or with all that were pruned before it.
struct HeadLoss {
    Head head;
    double loss = 0;
};

struct HeadResults {
    double loss = 0;  // with all heads
    std::vector<HeadLayer> layers;
    std::vector<std::vector<HeadStatistics>> statistics;  // by layer and head
    std::vector<Head> lost_before;                        // heads that the model had already lost
    std::vector<HeadLoss> without;                        // importance; empty if it was not wanted
    std::vector<HeadLoss> pruned;                         // in the order of pruning
    std::vector<SeenLayer> first_sequence;
};

std::string heads_text(const HeadResults& results);
nlohmann::ordered_json heads_document(const HeadResults& results);

/// Names of the files that heads_pictures() makes for a model of these layers, with pruning or without; some may not be
/// made.
std::vector<std::string> heads_picture_names(const std::vector<HeadLayer>& layers);

/// Pictures by the names of their files:
///
///     spectrum.svg        cumulative energy of the singular values, a curve for each layer, the mean of its heads
///     LAYER.svg           what each head of the layer sees of the first sequence, at most 64 tokens of it
///     STACK.rollout.svg   rollout through the self-attention of a stack of layers
///     pruning.svg         the loss against the number of pruned heads
std::vector<std::pair<std::string, std::string>> heads_pictures(const HeadResults& results);

}  // namespace vkf
