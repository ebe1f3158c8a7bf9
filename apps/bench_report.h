// A finished benchmark: on paper, in a file, and read back.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench.h"
#include "vulkan/device_facts.h"

namespace vkf {

class Device;

/// Where and when a report was made.
struct ReportHead {
    std::string device, kind, driver, version, date;
    std::uint32_t subgroup_size = 0;
};

/// On this device, now.
ReportHead report_head(const Device& device);
/// The first members of a report's document, and back. Throws nlohmann::json::exception if they are not there.
nlohmann::ordered_json document(const ReportHead& head);
ReportHead read_head(const nlohmann::json& root);
/// "NAME, DRIVER, DATE, vkformer VERSION"
std::string heading(const ReportHead& head);

/// What was measured.
struct BenchReport {
    ReportHead head;
    std::string precision = "fp32", kernels = "auto";
    Peak peak;
    std::vector<Measurement> measurements;
    std::optional<DeviceFacts> facts = {};  // written, not read back
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
