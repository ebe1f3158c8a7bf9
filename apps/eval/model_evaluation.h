// The evaluation of any model on data as a value: graphs of its loss, and batches to feed them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/eval/eval.h"
#include "apps/model.h"
#include "models/train/trainer.h"

namespace vkf {

/// Tokens of a batch, [rows, length]; no tokenizer if the model has none.
struct TokenRows {
    std::int64_t length = 0;
    std::vector<std::int32_t> tokens;
    const Tokenizer* tokenizer = nullptr;
    std::int32_t end = -1;  // token that ends a sentence, if there is one
};

struct ModelEvaluation {
    std::shared_ptr<const Model> model;
    std::map<std::string, std::string> side_files;  // files of the model beside config.json and weights
    LossGraphs loss;                                // weighted by the items over which a batch's loss is the mean
    std::uint64_t batches = 0;
    Feed feed;
    /// Tokens that a batch reads; of a translation model's sources if `source`. Not set for images.
    std::function<TokenRows(std::uint64_t number, bool source)> tokens = {};
};

/// The data that `eval` with these options reads; batches are drawn at random, except those of a text.
ModelEvaluation evaluation_of_language(const Common& common, const EvalOptions& options);
ModelEvaluation evaluation_of_images(const Common& common, const EvalOptions& options);
ModelEvaluation evaluation_of_translation(const Common& common, const EvalOptions& options);
ModelEvaluation evaluation_of_sequences(const Common& common, const EvalOptions& options);

}  // namespace vkf
