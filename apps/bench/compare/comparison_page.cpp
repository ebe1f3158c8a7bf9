#include "apps/bench/compare/comparison_page.h"

#include <algorithm>

#include "apps/bench/compare/comparison.h"
#include "apps/report/html_page.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Rows of devices and conditions, one column per report.
Rows report_rows(std::span<const BenchReport> reports, const Comparison& comparison) {
    Rows rows{{""},          {"device"},  {"driver"},       {"date"},     {"vkformer"},
              {"precision"}, {"kernels"}, {"peak GFLOP/s"}, {"peak GB/s"}};
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const BenchReport& at = reports[i];
        const std::string cells[] = {report_letter(i),
                                     text(at.head.device, " (", at.head.kind, ")"),
                                     at.head.driver,
                                     at.head.date,
                                     at.head.version,
                                     at.precision,
                                     at.kernels,
                                     fixed(at.peak.flops * 1e-9, 1),
                                     fixed(at.peak.bytes * 1e-9, 1)};
        for (std::size_t r = 0; r < rows.size(); ++r) rows[r].push_back(cells[r]);
    }
    const auto add = [&](const std::string& name, const auto& cell_of) {
        std::vector<std::string> row{name};
        for (std::size_t i = 0; i < reports.size(); ++i) row.push_back(cell_of(i));
        rows.push_back(std::move(row));
    };
    for (const char* element : {"fp16", "bf16"})
        if (std::ranges::any_of(reports, [&](const BenchReport& at) { return at.peak.matrices.contains(element); }))
            add(text("matrices of ", element, ", GFLOP/s"), [&](std::size_t i) {
                const auto found = reports[i].peak.matrices.find(element);
                return found == reports[i].peak.matrices.end() ? std::string() : fixed(found->second * 1e-9, 1);
            });
    if (std::ranges::any_of(reports, [](const BenchReport& at) { return at.suite.has_value(); })) {
        add("suite", [&](std::size_t i) {
            const auto& suite = reports[i].suite;
            return suite ? text("version ", suite->version, ", ", suite->minutes, " minutes") : std::string();
        });
        add("left out",
            [&](std::size_t i) { return reports[i].suite ? text(reports[i].suite->left_out.size()) : std::string(); });
    }
    if (reports.size() > 1) add("without a match", [&](std::size_t i) { return text(comparison.unmatched[i]); });
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
            body += text("<tr>", html_cell(i == 0 ? family : ""),
                         html_cell(report_letter(i) + ": " + reports[i].head.device),
                         html_cell(fixed(*speedups[i], 2), true),
                         "<td style=\"width:50%\"><div style=\"height:12px;background:", i == 0 ? "#8a8f98" : "#4c78a8",
                         ";width:", fixed(100 * *speedups[i] / longest, 2), "%\"></div></td></tr>\n");
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
    std::string title = "vkformer bench: ";
    for (std::size_t i = 0; i < reports.size(); ++i) title += text(i > 0 ? ", " : "", reports[i].head.device);
    return html_document(title, body);
}

}  // namespace vkf
