// Progress of a training run, and the limits that end it before its last step.
#pragma once

#include <cstdint>
#include <limits>

namespace vkf {

struct RunProgress {
    std::int64_t step = 0;                                  // updates done
    std::int64_t evaluated = -1;                            // step of the last evaluation
    double best = std::numeric_limits<double>::infinity();  // lowest score of an evaluation
    std::int64_t without_improvement = 0;                   // evaluations since the best
    std::int64_t outliers = 0;                              // updates skipped for their gradients' norm

    /// Records the score of an evaluation at this step; true if it is the best so far.
    bool take_score(double score) {
        evaluated = step;
        const bool better = score < best;
        if (better) best = score;
        without_improvement = better ? 0 : without_improvement + 1;
        return better;
    }
};

/// Limits of a run; 0: no limit.
struct RunLimits {
    double max_minutes = 0;                    // minutes after which the run stops, to be resumed
    double save_minutes = 0;                   // minutes between checkpoints, in addition to those of evaluations
    std::int64_t early_stopping_patience = 0;  // evaluations without improvement after which the run ends

    bool stops_early(const RunProgress& at) const {
        return early_stopping_patience > 0 && at.without_improvement >= early_stopping_patience;
    }
};

}  // namespace vkf
