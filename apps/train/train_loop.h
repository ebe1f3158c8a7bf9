// Loop of every training run.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/common.h"
#include "models/train/run_directory.h"
#include "models/train/trainer.h"

namespace vkf {

/// Result of an evaluation.
struct Evaluation {
    nlohmann::ordered_json metrics;  // members of metrics.jsonl, after "step"
    std::vector<std::string> lines;  // lines for people, one for each set
    double score = 0;                // the model with the lowest score is the best
};

/// Wraps an evaluation's feed so that it shows the evaluation's progress, and stops at Ctrl-C.
using Watch = std::function<Feed(Feed)>;

struct TrainLoop {
    std::int64_t steps = 0;          // steps of the whole run
    const char* steps_option = "";   // option that sets the number of steps, in some unit
    std::int64_t eval_interval = 1;  // steps between evaluations, each of which writes a checkpoint
    std::int64_t log_interval = 1;
    std::vector<std::int64_t> phases{0};  // steps from which on a step takes another time, in order
    RunLimits limits;
    const char* items = "tokens";  // unit of a step's speed
    std::function<double(std::int64_t step)> items_in_step;
    double peak_gflops = 0;  // of the device, of which the log has the share that a step reaches; 0: not known
    std::function<double(std::int64_t step)> learning_rate;
    Feed feed;
    std::int64_t change_interval = 0;                    // steps between changes of states by the host; 0: none
    std::function<void(std::int64_t step)> change = {};  // called after this step, before an evaluation
    std::int64_t eval_batches = 0;                       // batches of an evaluation
    std::function<Evaluation(const Watch& watch)> evaluate;
    std::int64_t probe_interval = 0;                     // steps between probes; 0: none
    std::function<nlohmann::ordered_json()> probe = {};  // member "probe" of metrics.jsonl
    /// Text that the model writes at an evaluation: member "sample" of metrics.jsonl.
    std::function<std::string(std::int64_t step)> sample = {};
};

/// Runs steps until the end, or until a limit ends the run earlier, evaluating and keeping the best model on the way;
/// returns the run's progress. Throws Interrupted within a micro-batch of Ctrl-C, after writing a checkpoint from which
/// the run continues as if it had not stopped, and Error naming the first number that is not finite, unless loss
/// scaling skipped the step and can still lower its scale. Numbers that are not finite are never saved.
RunProgress run_training(Trainer& trainer, RunDirectory& run, const TrainLoop& loop, RunProgress at,
                         const Common& common);

}  // namespace vkf
