// One candidate of a tuning problem, run on the device.
#pragma once

#include <string>
#include <vector>

#include "graph/autotuner.h"
#include "program/program.h"

namespace vkf {

/// Chooses one candidate always.
class Only : public Autotuner {
public:
    explicit Only(std::string candidate) : candidate_(std::move(candidate)) {}

    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override;

private:
    std::string candidate_;
};

/// What a case's kernels are, with one candidate. Runs the graph's passes.
std::vector<KernelRequest> kernels_of(TuningCase& of, DeviceTraits lowering, const std::string& candidate);

/// A case made executable with one candidate, in poisoned memory between guard bands, and run once. The case and its
/// operands must outlive it.
class TuningAttempt {
public:
    TuningAttempt(Device& device, DeviceTraits lowering, TuningCase& of, const TuningOperands& operands,
                  const std::string& candidate);

    /// What is wrong with what was computed; empty: nothing.
    std::string mismatch() const;

    /// Seconds that the nodes of the case's op take, where the device has timestamps, else all of a run: the least of
    /// five runs, or ten short ones. The first one that takes no longer than `enough` is the last.
    double seconds(double enough);

    /// Seconds that they take in one more run, and the operations of that run.
    double once();
    double flops() const { return flops_; }

    /// Bytes of memory that it holds.
    std::int64_t bytes() const;

private:
    TuningCase& case_;
    const TuningOperands& operands_;
    Only only_;
    bool stamped_;
    State state_;
    Program program_;
    double flops_ = 0;
};

}  // namespace vkf
