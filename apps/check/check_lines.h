// Lines that a process of checks prints, each a JSON object, for the process that started it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/bench_report.h"

namespace vkf {

/// Printed first.
struct PlanLine {
    ReportHead head;
    std::uint64_t kernels = 0;  // hash of this build's kernels
    std::size_t checks = 0;     // in the whole plan
};

/// Result of a check. Its names, kernels and candidates are printed before it begins, so that a process that dies has
/// said in what.
struct CheckResult {
    std::size_t index = 0;
    std::string table, name;
    double worst = 0;                   // largest error, in units of its bound
    std::vector<std::string> failures;  // none: right
    std::vector<std::string> notes;     // findings that are no faults
    std::vector<std::string> kernels;   // names
    /// "FAMILY" and "CANDIDATE" of each computation for which there was a choice.
    std::vector<std::pair<std::string, std::string>> chosen;
    std::string bits;  // hash of all outputs; empty if other things than outputs are checked
    double seconds = 0;
};

nlohmann::ordered_json document(const PlanLine& line);
nlohmann::ordered_json document(const CheckResult& result);
/// The line before the check.
nlohmann::ordered_json begin_document(const CheckResult& result);

/// Line of one kind, or nothing if it is of another. Throws nlohmann::json::exception if a member is missing.
std::optional<PlanLine> read_plan_line(const nlohmann::json& line);
std::optional<CheckResult> read_begin_line(const nlohmann::json& line);
std::optional<CheckResult> read_result(const nlohmann::json& line);

}  // namespace vkf
