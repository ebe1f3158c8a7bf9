// The result of a check of a device: as lines, as Markdown for a bug report, as JSON and as a page of HTML.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/check/check_lines.h"

namespace vkf {

struct CheckReport {
    ReportHead head;
    std::uint64_t kernels = 0;             // hash of the build's kernels
    std::string pretend;                   // kernels as for another device: "gpu", "small-gpu" or empty
    std::size_t planned = 0;               // checks for this device
    double seconds = 0;                    // of the whole run
    bool stopped = false;                  // true if the time was over before all checks were done
    std::vector<CheckResult> results;      // by index
    std::size_t together = 0;              // checks that two processes made at once
    std::vector<std::string> differences;  // those whose bits were then others

    /// Checks that failed.
    std::vector<const CheckResult*> failed() const;
    bool right() const { return failed().empty() && differences.empty(); }
};

nlohmann::ordered_json document(const CheckReport& report);
/// One line.
std::string summary(const CheckReport& report);
/// Rows of failures: check, kernels, fault. The first row is the heading.
std::vector<std::vector<std::string>> failure_rows(const CheckReport& report);
/// Rows by table of ops: checks that were done, failures, the largest error.
std::vector<std::vector<std::string>> table_rows(const CheckReport& report);
/// Rows of findings that are no faults: check, finding.
std::vector<std::vector<std::string>> note_rows(const CheckReport& report);
std::string markdown(const CheckReport& report);
std::string html_page(const CheckReport& report);

}  // namespace vkf
