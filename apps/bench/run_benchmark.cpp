// Running a benchmark of a device, and its report.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/bench/bench_peak.h"
#include "apps/bench/bench_report.h"
#include "apps/bench/compare/comparison_page.h"
#include "apps/bench/roofline.h"
#include "apps/cli/command.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/matrix_trial.h"
#include "base/files/file.h"
#include "base/text/json_text.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// The last verdict of `vkformer check` on the device's driver; nothing without one.
std::optional<CheckVerdict> verdict_of(const Device& device) {
    try {
        const auto place = tuning_cache_place();
        return place ? read_tuning_cache(device.info(), *place).checked : std::nullopt;
    } catch (const InputError&) {
        return {};  // the cache is made anew
    }
}

}  // namespace

void ReportOptions::declare(cli::Command& app) {
    app.add_option("--seconds", seconds, "Length of each measurement")
        .type_name("S")
        .check(at_least(0.001))
        .capture_default_str();
    declare_files(app);
}

void ReportOptions::declare_files(cli::Command& app) {
    app.add_option("--out", out, "Write the JSON document here too").type_name("FILE.json");
    app.add_option("--markdown", markdown, "Write the table as Markdown").type_name("FILE.md");
    app.add_option("--html", html, "Write a page of the report").type_name("FILE.html");
    app.add_option("--plot", plot, "Draw the roofline").type_name("FILE.svg");
}

void run_benchmark(const Common& common, const ReportOptions& o,
                   const std::function<void(Device&, BenchReport&)>& work) {
    const std::array files{o.out, o.markdown, o.plot, o.html};
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].empty()) continue;
        require_directory_of(files[i]);
        require(std::count(files.begin(), files.end(), files[i]) == 1, "two reports are to be written to ", files[i],
                ": wanted a file for each");
    }
    catch_interrupts();
    with_device(common, [&](Device& device) {
        BenchReport report{.head = report_head(device)};
        report.precision = o.precision.empty() ? common.precision : o.precision;
        report.kernels = common.kernels;
        if (o.precision.empty() && common.activations() == Format::f16) report.precision += " (float16)";
        report.peak = measure_peak(device, o.seconds);
        work(device, report);
        // Measures again: other load may have lowered one of the measurements, and nothing raises them.
        report.peak = higher(report.peak, measure_peak(device, o.seconds));
        if (const auto facts = list_device_facts(matrix_trial()); device.info().index < facts.size())
            report.facts = facts[device.info().index];
        report.host = report_host();
        report.checked = verdict_of(device);
        const auto rows = rows_of(report);
        if (!o.out.empty()) write_atomically(o.out, document_text(document(report)));
        if (!o.markdown.empty()) write_atomically(o.markdown, heading(report) + "\n" + vkf::markdown(rows));
        if (!o.plot.empty()) write_atomically(o.plot, roofline_svg(report));
        if (!o.html.empty()) write_atomically(o.html, comparison_page(std::span(&report, 1)));
        if (common.json) return print_json(document(report));
        print(heading(report) + "\n" + table(rows));
    });
}

}  // namespace vkf
