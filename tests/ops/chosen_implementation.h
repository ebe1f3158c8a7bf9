// An autotuner that always gives the same answer, for tests of each implementation.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "graph/autotuner.h"

namespace vkf::test {

/// Always chooses this implementation, and fails if it is not a candidate.
class Always : public Autotuner {
public:
    explicit Always(std::string implementation) : implementation_(std::move(implementation)) {}
    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        const auto at = std::ranges::find(problem.candidates, implementation_);
        EXPECT_NE(at, problem.candidates.end()) << implementation_ << " is none for " << problem.kind;
        return static_cast<std::size_t>(at - problem.candidates.begin());
    }

private:
    std::string implementation_;
};

}  // namespace vkf::test
