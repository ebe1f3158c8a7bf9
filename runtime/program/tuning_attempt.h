// Trial of one candidate of a tuning problem on the device.
#pragma once

#include <string>
#include <vector>

#include "graph/autotuner.h"
#include "program/program.h"

namespace vkf {

/// Always chooses one candidate.
class Only : public Autotuner {
public:
    explicit Only(std::string candidate) : candidate_(std::move(candidate)) {}

    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override;

private:
    std::string candidate_;
};

/// Kernels of a case with one candidate. Runs the graph's passes.
std::vector<KernelRequest> kernels_of(TuningCase& tuning_case, DeviceTraits lowering, const std::string& candidate);

/// A case compiled with one candidate, in poisoned memory between guard bands, and run once. The case and its operands
/// must outlive the attempt.
class TuningAttempt {
public:
    TuningAttempt(Device& device, DeviceTraits lowering, TuningCase& tuning_case, const TuningOperands& operands,
                  const std::string& candidate);

    /// Describes the fault of the result; empty if there is none.
    std::string mismatch() const;

    /// Seconds of the nodes of the case's op if the device has timestamps, otherwise of a whole run: the minimum of
    /// five runs, or of ten short ones. The first run that takes at most `enough` is the last.
    double seconds(double enough);

    /// Seconds of one more run, measured like seconds(), and the operations of that run.
    double once();
    double flops() const { return flops_; }

    /// Bytes of memory that the attempt holds.
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
