// Report of a finished benchmark: as a table, as a file, and read back.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/bench.h"
#include "program/tuning_cache.h"
#include "vulkan/device/device_facts.h"

namespace vkf {

class Device;

/// Device, driver, program version and date of a report.
struct ReportHead {
    std::string device, kind, driver, version, date;
    std::uint32_t subgroup_size = 0;
};

/// Head of a report about this device, made now.
ReportHead report_head(const Device& device);
/// Converts a head to the first members of a report's document, and back. Throws nlohmann::json::exception if a member
/// is missing.
nlohmann::ordered_json document(const ReportHead& head);
ReportHead read_head(const nlohmann::json& root);
/// "NAME, DRIVER, DATE, vkformer VERSION"
std::string heading(const ReportHead& head);

/// Computer in which the device is.
struct ReportHost {
    std::string os, kernel, processor;
    std::int64_t threads = 0, memory_bytes = 0;      // 0: unknown
    std::map<std::string, std::string> environment;  // variables that change how drivers or this program work
};

/// This computer, with the variables that Vulkan's loader, drivers and this program read.
ReportHost report_host();

/// A model of a report.
struct ReportModel {
    std::string name, title;  // name for --model
    std::int64_t parameters = 0;
};

/// A measurement that `bench suite` did not make.
struct LeftOut {
    std::string family, name, shape, precision, reason;
};

/// The plan that `bench suite` followed.
struct SuiteRecord {
    int version = 0;
    double minutes = 0;  // its budget
    std::vector<LeftOut> left_out = {};
};

/// Measurements on one device, with its peak.
struct BenchReport {
    ReportHead head;
    std::string precision = "fp32", kernels = "auto";
    Peak peak;
    std::vector<Measurement> measurements;
    std::optional<SuiteRecord> suite = {};  // if `bench suite` made it
    std::vector<ReportModel> models = {};
    std::optional<DeviceFacts> facts = {};  // written, not read back
    std::optional<ReportHost> host = {};
    std::optional<CheckVerdict> checked = {};  // of this driver by this program's kernels, if `vkformer check` ran
};

nlohmann::ordered_json document(const BenchReport& report);
/// Reads a report. Throws InputError naming the file if it is not one.
BenchReport read_report(const std::filesystem::path& path);

std::string milliseconds_text(double seconds);  // "0.1234", "12.345"
std::string share_text(double share);           // 0.5 → "50 %"

/// Table of a report, as rows of text; the first row is the heading.
std::vector<std::vector<std::string>> rows_of(const BenchReport& report);
std::string heading(const BenchReport& report);

/// Formats rows as a Markdown table.
std::string markdown(const std::vector<std::vector<std::string>>& rows);

/// Options that all benchmarks of a device share.
struct ReportOptions {
    double seconds = 0.5;
    std::string out, markdown, html, plot;
    std::string precision = {};  // of the report, if it is not that of --precision

    void declare(cli::Command& app);
    /// Declares the options for files only.
    void declare_files(cli::Command& app);
};

/// Opens the device and measures its peak; `work` adds measurements to the report, which is then printed and written.
void run_benchmark(const Common& common, const ReportOptions& options,
                   const std::function<void(Device&, BenchReport&)>& work);

}  // namespace vkf
