// The loop that every training run is.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/common.h"
#include "models/train/run_directory.h"
#include "models/train/trainer.h"

namespace vkf {

/// What an evaluation found.
struct Evaluation {
    nlohmann::ordered_json metrics;  // for metrics.jsonl, after "step"
    std::vector<std::string> lines;  // for people, one for each set
    double score = 0;                // of the model; the lowest is the best
};

/// Makes of an evaluation's feed one that shows how far the evaluation has come, and stops at Ctrl-C.
using Watch = std::function<Feed(Feed)>;

struct TrainLoop {
    std::int64_t steps = 0;          // of the whole run
    const char* steps_option = "";   // the option that says how many, in some unit
    std::int64_t eval_interval = 1;  // steps between evaluations, each of which writes a checkpoint
    std::int64_t log_interval = 1;
    RunLimits limits;
    const char* items = "tokens";  // what a step's speed is counted in
    double items_per_step = 0;
    std::function<double(std::int64_t step)> learning_rate;
    Feed feed;
    std::int64_t eval_batches = 0;  // of an evaluation
    std::function<Evaluation(const Watch& watch)> evaluate;
};

/// Steps until the end, or until a limit ends the run earlier, evaluating and keeping the best model on the way;
/// returns where the run then stands. Throws Interrupted within a micro-batch of Ctrl-C, with a checkpoint written that
/// goes on as if nothing had happened, and Error naming the first number that is not finite, unless loss scaling
/// skipped the step and still has a scale to give way with. What is not finite is never saved.
RunProgress run_training(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress at,
                         const Common& common);

}  // namespace vkf
