// Measurements of `vkformer bench suite`: the computations, and the sizes at which they are measured.
//
// Sizes are steps of a ladder, so that reports of unlike devices have the small sizes in common: a device with little
// time or memory measures the first step only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/bench/bench_report.h"

namespace vkf {

/// Version of the plan. It rises with every change after which a measurement of the same name and size is another
/// computation; SUITE_CHANGES in suite_plan.cpp says what changed.
inline constexpr int SUITE_VERSION = 1;

/// Sentences on what each version changed, from `older` to this program's; none if they are the same.
std::vector<std::string> suite_changes_since(int older);

/// Work of one repetition of a measurement.
struct SuiteWork {
    double least_seconds = 0;  // see least_seconds()
    std::string lack;          // reason why it does not fit the device; empty if it fits
};

/// A computation at one size in one precision.
struct SuiteItem {
    int step;  // of the ladder; the smallest sizes have 0
    LeftOut what;
    std::function<SuiteWork(const Device&, const Peak&)> work;
    /// Measures for `seconds`, at least a few repetitions.
    std::function<std::vector<Measurement>(Device&, double seconds)> measure;
};

/// All measurements in the order in which they are made: step by step of the ladder; in a step products, attention,
/// then whole models, standard attention in fp32 first. `half` is the 16-bit format of mixed precision, `kernels` the
/// implementation of products that the device uses (--kernels).
std::vector<SuiteItem> suite_plan(Format half, const std::string& kernels);

/// Models of the plan with standard attention.
std::vector<ReportModel> suite_models();

}  // namespace vkf
