// Measurements of `vkformer bench suite`: the computations, and the sizes at which they are measured.
//
// Sizes are steps of a ladder, so that reports of unlike devices have the small sizes in common: a device with little
// time or memory measures the first step only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/bench/bench_report.h"
#include "apps/inspect/analysis.h"

namespace vkf {

/// Version of the plan. It rises with every change after which a measurement of the same name and size is another
/// computation; SUITE_CHANGES in suite_plan.cpp says what changed.
inline constexpr int SUITE_VERSION = 1;

/// Sentences on what each version changed, from `older` to this program's; none if they are the same.
std::vector<std::string> suite_changes_since(int older);

/// A measurement that is known to a device: the work and memory of one repetition, and the way to measure it.
struct PreparedItem {
    Analysis analysis;
    /// Measures for `seconds`, at least a few repetitions.
    std::function<std::vector<Measurement>(double seconds)> measure;
};

/// A computation at one size in one precision.
struct SuiteItem {
    int step;  // of the ladder; the smallest sizes have 0
    LeftOut what;
    /// The result refers to the device.
    std::function<PreparedItem(Device&)> prepare;
};

/// All measurements in the order in which they are made: step by step of the ladder; in a step products, attention,
/// then whole models, standard attention in fp32 first. `half` is the 16-bit format of mixed precision, `kernels` the
/// implementation of products that the device uses (--kernels).
std::vector<SuiteItem> suite_plan(Format half, const std::string& kernels);

/// Models of the plan with standard attention.
std::vector<ReportModel> suite_models();

}  // namespace vkf
