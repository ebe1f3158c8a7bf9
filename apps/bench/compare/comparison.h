// Measurements of several reports side by side.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/bench_report.h"

namespace vkf {

/// One computation at one size.
struct ComparedMeasurement {
    std::vector<const Measurement*> of;  // by report; null where a report lacks it

    /// The first report's that has it.
    const Measurement& any() const;
    /// Speed in a report relative to the first report, by medians; nothing if one of them lacks it.
    std::optional<double> speedup(std::size_t report) const;
};

/// Geometric means of speedups by report; nothing where a report has no measurement in common with the first one.
using Speedups = std::vector<std::optional<double>>;

struct Comparison {
    /// Computations that at least two reports have (if there is one report, all of its own), in the reports' order.
    std::vector<ComparedMeasurement> measurements;
    std::vector<std::size_t> unmatched;                      // by report, those that no other report has
    std::vector<std::pair<std::string, Speedups>> families;  // in the order of `measurements`
};

/// Matches measurements of the same family, name, shape, layout and precision. The reports must outlive the result.
Comparison compare(std::span<const BenchReport> reports);

/// "A", "B", …: a report's name in tables.
std::string report_letter(std::size_t report);

/// Notes on what a reader must know before comparing: suites of other versions, other precisions or implementations.
/// Throws InputError for a suite that is newer than this program.
std::vector<std::string> comparison_notes(std::span<const BenchReport> reports);

/// Rows of the whole comparison, with means by family; the first row is the heading.
std::vector<std::vector<std::string>> rows_of(const Comparison& comparison, std::span<const BenchReport> reports);

/// "no match: 3 measurements of A, 0 of B"
std::string unmatched_text(const Comparison& comparison);

}  // namespace vkf
