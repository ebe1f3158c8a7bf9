// vkformer bench compare: saved reports side by side, of any devices, drivers or versions.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "apps/bench/bench_report.h"
#include "apps/bench/compare/comparison.h"
#include "apps/bench/compare/comparison_page.h"
#include "apps/bench/compile_report.h"
#include "apps/cli/command.h"
#include "apps/cli/option_values.h"
#include "apps/cli/output_file.h"
#include "base/files/file.h"
#include "base/text/json.h"
#include "vulkan/cpu/lavapipe.h"

namespace vkf {

namespace {

struct CompareOptions {
    std::vector<std::string> reports;
    std::string markdown, html;
};

nlohmann::ordered_json device(const ReportHead& head) {
    return document(head)["device"];
}

nlohmann::ordered_json numbers(const Speedups& speedups) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& speedup : speedups)
        list.push_back(speedup ? nlohmann::ordered_json(*speedup) : nlohmann::ordered_json());
    return list;
}

nlohmann::ordered_json document(const Comparison& comparison, std::span<const BenchReport> reports,
                                const std::vector<std::string>& notes) {
    nlohmann::ordered_json entries = nlohmann::ordered_json::array(), devices = entries,
                           families = nlohmann::ordered_json::object();
    for (const BenchReport& report : reports) devices.push_back(device(report.head));
    for (const ComparedMeasurement& compared : comparison.measurements) {
        const Measurement& m = compared.any();
        nlohmann::ordered_json seconds = nlohmann::ordered_json::array(), shares = seconds;
        Speedups speedups;
        for (std::size_t i = 0; i < reports.size(); ++i) {
            const Measurement* at = compared.of[i];
            seconds.push_back(at ? nlohmann::ordered_json(at->seconds.median) : nlohmann::ordered_json());
            shares.push_back(at ? nlohmann::ordered_json(at->share_of_peak(reports[i].peak))
                                : nlohmann::ordered_json());
            speedups.push_back(compared.speedup(i));
        }
        entries.push_back({{"family", m.family},
                           {"name", m.name},
                           {"shape", m.shape},
                           {"layout", m.layout},
                           {"precision", m.precision},
                           {"seconds", std::move(seconds)},
                           {"speedup", numbers(speedups)},
                           {"share_of_peak", std::move(shares)}});
    }
    for (const auto& [family, speedups] : comparison.families) families[family] = numbers(speedups);
    return {{"devices", std::move(devices)},
            {"notes", notes},
            {"measurements", std::move(entries)},
            {"geometric_mean_speedup", std::move(families)},
            {"unmatched", comparison.unmatched}};
}

void compare_measurements(const Common& common, const CompareOptions& o) {
    std::vector<BenchReport> reports;
    for (const std::string& path : o.reports) reports.push_back(read_report(path));
    const std::vector<std::string> notes = comparison_notes(reports);
    const Comparison comparison = compare(reports);
    require(!comparison.measurements.empty(), joined(o.reports, ", "), " have no measurement in common");
    std::string head;
    for (std::size_t i = 0; i < reports.size(); ++i) head += report_letter(i) + ": " + heading(reports[i]);
    for (const std::string& line : notes) head += line + "\n";
    const auto rows = rows_of(comparison, reports);
    const std::string foot = "\n" + unmatched_text(comparison) + "\n";
    if (!o.markdown.empty()) write_atomically(o.markdown, head + "\n" + markdown(rows) + foot);
    if (!o.html.empty()) write_atomically(o.html, comparison_page(reports));
    if (!common.json) return print(head + "\n" + table(rows) + foot);
    print_json(document(comparison, reports, notes));
}

// --- Kernels that were compiled ------------------------------------------------------------------

/// "96" if both reports agree, else "96 → 102".
std::string both(const std::optional<double>& a, const std::optional<double>& b) {
    return a == b ? figure_text(a) : figure_text(a) + " → " + figure_text(b);
}

/// Compares the figures of kernels; kernels that differ only in compile time are left out.
void compare_compiled(const Common& common, const CompareOptions& o) {
    require(o.reports.size() == 2, "reports of bench compile are compared two at a time, not ", o.reports.size());
    require(o.html.empty(), "--html is for measurements, these are reports of bench compile");
    const CompileReport a = read_compile_report(o.reports[0]), b = read_compile_report(o.reports[1]);
    const CompileComparison compared = compare(a, b);
    require(!compared.pairs.empty(), joined(o.reports, ", "), " have no kernel in common");
    std::vector<std::vector<std::string>> rows{{"kernel", "implementation", "precision", "first use"}};
    for (const char* name : figure_names) rows[0].push_back(name);
    nlohmann::ordered_json entries = nlohmann::ordered_json::array();
    for (const auto& [of_a, of_b] : compared.pairs) {
        if (of_a->figures == of_b->figures && of_a->error == of_b->error) continue;
        rows.push_back({of_a->kernel, of_a->implementation, of_a->precision,
                        text(of_a->name, ' ', of_a->shape, of_a->layout.empty() ? "" : " ", of_a->layout)});
        nlohmann::ordered_json entry{{"kernel", of_a->kernel},       {"implementation", of_a->implementation},
                                     {"precision", of_a->precision}, {"name", of_a->name},
                                     {"shape", of_a->shape},         {"errors", {of_a->error, of_b->error}}};
        for (std::size_t i = 0; i < figure_names.size(); ++i) {
            rows.back().push_back(both(of_a->figures[i], of_b->figures[i]));
            entry[figure_names[i]] =
                nlohmann::ordered_json::array({figure_document(of_a->figures[i]), figure_document(of_b->figures[i])});
        }
        entries.push_back(std::move(entry));
    }
    const std::int64_t alike = std::ssize(compared.pairs) - std::ssize(entries);
    const std::string head = "A: " + heading(a.head) + "\nB: " + heading(b.head) + "\n\n",
                      foot = text("\n", alike, " kernels have the same figures, ", entries.size(), " others; ",
                                  compared.only_a, " are in A only, ", compared.only_b, " in B only\n");
    if (!o.markdown.empty()) write_atomically(o.markdown, head + markdown(rows) + foot);
    if (!common.json) return print(head + (rows.size() > 1 ? table(rows) : "") + foot);
    print_json({{"devices", {device(a.head), device(b.head)}},
                {"kernels", entries},
                {"alike", alike},
                {"only_a", compared.only_a},
                {"only_b", compared.only_b}});
}

void compare_reports(const Common& common, const CompareOptions& o) {
    constexpr std::size_t most = 26;  // letters
    require(o.reports.size() >= 2 && o.reports.size() <= most, o.reports.size(), " reports, wanted 2 to ", most);
    if (!o.markdown.empty()) require_output("--markdown", o.markdown, {o.reports.begin(), o.reports.end()});
    if (!o.html.empty()) require_output("--html", o.html, {o.reports.begin(), o.reports.end()});
    require(o.html.empty() || o.html != o.markdown, "--html and --markdown are both ", o.html,
            ": wanted a file for each");
    const auto compiled = [](const std::string& path) {
        return is_compile_report(parse_json(read_text(path), path + ": is no report of vkformer bench: it"));
    };
    (compiled(o.reports[0]) ? compare_compiled : compare_measurements)(common, o);
}

}  // namespace

void add_bench_compare(cli::Command& bench, Common& common) {
    auto o = std::make_shared<CompareOptions>();
    cli::Command& command =
        bench.add_subcommand("compare", "Reports side by side, of any devices, drivers or versions");
    add_common(command, common);
    command.add_option("report", o->reports, "Reports of --out, two or more")
        .required()
        .type_name("REPORT.json")
        .any_number();
    command.add_option("--markdown", o->markdown, "Write the table as Markdown").type_name("FILE.md");
    command.add_option("--html", o->html, "Write a page with the devices, the table and bars").type_name("FILE.html");
    command.footer(
        text("Example:\n"
             "  vkformer bench kernels --device ",
             cpu_device_example,
             " --out a.json; vkformer bench kernels --out b.json\n"
             "  vkformer bench compare a.json b.json --html comparison.html\n"
             "\n"
             "A/B: how many times as fast B is, by medians. Of two reports of bench compile: kernels whose figures "
             "differ."));
    command.callback([o, &common] { compare_reports(common, *o); });
}

}  // namespace vkf
