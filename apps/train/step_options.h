// Options of runs whose length is a number of steps: their schedule, and the terms of their loss.
#pragma once

#include <cstdint>
#include <string>

#include "apps/train/run_options.h"
#include "ops/loss/head_loss.h"

namespace vkf {

class StepRunOptions : public RunOptions {
public:
    explicit StepRunOptions(const Family& family) : RunOptions(family) {}

    std::string schedule_kind = "cosine";
    std::int64_t max_iters = 600000;
    std::int64_t eval_interval = 2000;
    LossTerms loss_terms;  // of the loss that is trained; evaluations have none

protected:
    void declare_steps(cli::Command& app);
    /// Adds conditions to options of declare_run().
    void declare_steps_after_run();
    /// Settles the schedule. Throws InputError if its options contradict each other.
    void check_steps();

private:
    /// True if the schedule has an end.
    bool ends() const { return schedule_kind != "inverse-sqrt"; }
};

}  // namespace vkf
