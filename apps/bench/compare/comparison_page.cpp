#include "apps/bench/compare/comparison_page.h"

#include <algorithm>

#include "apps/bench/compare/comparison.h"
#include "apps/report/html_page.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

using Rows = std::vector<std::vector<std::string>>;

bool any_has_matrices(std::span<const BenchReport> reports, const char* element) {
    return std::ranges::any_of(reports, [&](const BenchReport& at) { return at.peak.matrices.contains(element); });
}

/// Devices and conditions, one row per report.
Rows report_rows(std::span<const BenchReport> reports, const Comparison& comparison) {
    const bool suites = std::ranges::any_of(reports, [](const BenchReport& at) { return at.suite.has_value(); });
    Rows rows{{"", "device", "driver", "GFLOP/s", "GB/s"}};
    for (const char* element : {"fp16", "bf16"})
        if (any_has_matrices(reports, element)) rows[0].push_back(text("GFLOP/s, matrices of ", element));
    for (const char* name : {"precision", "kernels", "vkformer", "date"}) rows[0].push_back(name);
    rows[0].push_back("checks that failed");
    if (suites) rows[0].insert(rows[0].end(), {"suite", "minutes", "left out"});
    if (reports.size() > 1) rows[0].push_back("no match");
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const BenchReport& at = reports[i];
        std::vector<std::string> row{report_letter(i), text(at.head.device, " (", at.head.kind, ")"), at.head.driver,
                                     fixed(at.peak.flops * 1e-9, 1), fixed(at.peak.bytes * 1e-9, 1)};
        for (const char* element : {"fp16", "bf16"}) {
            if (!any_has_matrices(reports, element)) continue;
            const auto found = at.peak.matrices.find(element);
            row.push_back(found == at.peak.matrices.end() ? "" : fixed(found->second * 1e-9, 1));
        }
        row.insert(row.end(), {at.precision, at.kernels, at.head.version, at.head.date});
        row.push_back(at.checked ? text(at.checked->failed, " of ", at.checked->checks) : "not checked");
        if (suites && at.suite)
            row.insert(row.end(),
                       {text("version ", at.suite->version), text(at.suite->minutes), text(at.suite->left_out.size())});
        else if (suites)
            row.insert(row.end(), 3, "");
        if (reports.size() > 1) row.push_back(text(comparison.unmatched[i]));
        rows.push_back(std::move(row));
    }
    return rows;
}

/// Geometric means of speedups as bars; the longest fills its column.
std::string speed_bars(std::span<const BenchReport> reports, const Comparison& comparison) {
    double longest = 1;
    for (const auto& [family, speedups] : comparison.families)
        for (const auto& speedup : speedups) longest = std::max(longest, speedup.value_or(0));
    std::string body = html_heading("Speed beside A") +
                       html_paragraph(
                           "Geometric means by medians over the measurements in common: above 1 is faster "
                           "than A.") +
                       "<div class=\"table\"><table style=\"width:100%\">\n" +
                       html_heading_row({"family", "report", "times as fast", ""});
    for (const auto& [family, speedups] : comparison.families)
        for (std::size_t i = 0; i < reports.size(); ++i) {
            if (!speedups[i]) continue;
            body += text("<tr>", html_cell(i == 0 ? family : ""), html_cell(report_letter(i)),
                         html_cell(fixed(*speedups[i], 2), true),
                         "<td style=\"width:60%\"><div style=\"height:12px;margin-top:5px;background:",
                         i == 0 ? "#8a8f98" : "#4c78a8", ";width:", fixed(100 * *speedups[i] / longest, 2),
                         "%\"></div></td></tr>\n");
        }
    return body + "</table></div>\n";
}

std::string left_out_table(const SuiteRecord& suite) {
    Rows rows{{"family", "what", "shape", "precision", "reason"}};
    for (const LeftOut& at : suite.left_out) rows.push_back({at.family, at.name, at.shape, at.precision, at.reason});
    return html_heading("Left out") + html_table(rows);
}

}  // namespace

std::string comparison_page(std::span<const BenchReport> reports) {
    const std::vector<std::string> notes = comparison_notes(reports);
    const Comparison comparison = compare(reports);
    std::string body = html_table(report_rows(reports, comparison));
    for (const std::string& note : notes) body += html_paragraph(note + ".");
    if (reports.size() > 1) body += speed_bars(reports, comparison);
    body += html_heading("Measurements") +
            html_table(reports.size() > 1 ? rows_of(comparison, reports) : rows_of(reports[0]));
    if (reports.size() == 1 && reports[0].suite && !reports[0].suite->left_out.empty())
        body += left_out_table(*reports[0].suite);
    return html_document(reports.size() > 1 ? text("vkformer bench: ", reports.size(), " reports")
                                            : "vkformer bench: " + reports[0].head.device,
                         body);
}

}  // namespace vkf
