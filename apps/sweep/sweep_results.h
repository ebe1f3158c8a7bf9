// Results of a sweep: one row per run, and points compared within seeds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/report/run_log.h"
#include "apps/report/spread.h"
#include "apps/sweep/sweep_file.h"

namespace vkf {

/// A finished run.
struct SweepResult {
    std::string point;  // point_text() of its place in the grid
    std::uint64_t seed = 0;
    std::map<std::string, double> best;  // of each metric of evaluations: the lowest loss, the highest accuracy
};

/// Results of a run, from its log.
SweepResult result_of(const SweepRun& run, const RunLog& log);

/// Half the width of the 95 % confidence interval of a mean, by Student's t. Nothing for fewer than two numbers.
std::optional<double> confidence(const Spread& spread);

/// A point of the grid compared with the first one: differences of runs with the same seed.
struct Comparison {
    std::string point;
    Spread values;
    std::optional<Spread> difference;  // from the first point, which has none
};

/// Metric that decides: val_accuracy if all results have it, else val_loss. Throws InputError if a result lacks both.
std::string deciding_metric(const std::vector<SweepResult>& results);
/// Comparisons of all points, in their order.
std::vector<Comparison> compare(const std::vector<SweepResult>& results, const std::string& metric);

std::vector<std::vector<std::string>> comparison_rows(const std::vector<Comparison>& comparisons,
                                                      const std::string& metric);
nlohmann::ordered_json comparison_document(const std::vector<Comparison>& comparisons, const std::string& metric);

}  // namespace vkf
