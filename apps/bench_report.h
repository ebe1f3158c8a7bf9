// A finished benchmark: on paper, in a file, and read back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/bench.h"

namespace vkf {

class Device;

/// What was measured, where and when.
struct BenchReport {
    std::string device, kind, driver, version, date;
    std::uint32_t subgroup_size = 0;
    Peak peak;
    std::vector<Measurement> measurements;
};

/// A report of this device and this moment, without measurements.
BenchReport begin_report(const Device& device);

nlohmann::ordered_json document(const BenchReport& report);
/// Columns of text for people; the first row is the heading.
std::vector<std::vector<std::string>> rows_of(const BenchReport& report);
std::string heading(const BenchReport& report);

/// The same rows as a Markdown table.
std::string markdown(const std::vector<std::vector<std::string>>& rows);

}  // namespace vkf
