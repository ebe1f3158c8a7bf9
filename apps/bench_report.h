// A finished benchmark: on paper, in a file, and read back.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/bench.h"

namespace vkf {

class Device;

/// What was measured, where and when.
struct BenchReport {
    std::string device, kind, driver, version, date, precision = "fp32", kernels = "auto";
    std::uint32_t subgroup_size = 0;
    Peak peak;
    std::vector<Measurement> measurements;
};

nlohmann::ordered_json document(const BenchReport& report);
/// Throws InputError naming the file if it is no such document.
BenchReport read_report(const std::filesystem::path& path);

std::string milliseconds_text(double seconds);  // "0.1234", "12.345"
std::string share_text(double share);           // 0.5 → "50 %"

/// Columns of text for people; the first row is the heading.
std::vector<std::vector<std::string>> rows_of(const BenchReport& report);
std::string heading(const BenchReport& report);

/// The same rows as a Markdown table.
std::string markdown(const std::vector<std::vector<std::string>>& rows);

/// What every benchmark of a device can be told.
struct ReportOptions {
    double seconds = 0.5;
    std::string out, markdown, plot;

    void declare(CLI::App& app);
};

/// Opens the device and measures its peak; `work` adds measurements to the report, which is then printed and written.
void run_benchmark(const Common& common, const ReportOptions& options,
                   const std::function<void(Device&, BenchReport&)>& work);

}  // namespace vkf
