#include "apps/check/check_report.h"

#include <algorithm>
#include <map>

#include "apps/cli/common.h"
#include "apps/cli/progress.h"
#include "apps/report/html_page.h"
#include "base/error.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

const CheckResult* largest(const CheckReport& report) {
    const CheckResult* worst = nullptr;
    for (const CheckResult& result : report.results)
        if (result.failures.empty() && (!worst || result.worst > worst->worst)) worst = &result;
    return worst;
}

std::string joined(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
    return list;
}

/// Rows of the device and the run.
std::vector<std::vector<std::string>> run_rows(const CheckReport& report) {
    std::vector<std::vector<std::string>> rows{{"", ""},
                                               {"device", text(report.head.device, " (", report.head.kind, ")")},
                                               {"driver", report.head.driver},
                                               {"subgroup size", text(report.head.subgroup_size)},
                                               {"vkformer", report.head.version},
                                               {"date", report.head.date},
                                               {"checks", text(report.results.size(), " of ", report.planned)},
                                               {"time", duration_text(report.seconds)}};
    if (!report.pretend.empty()) rows.push_back({"kernels as for", report.pretend});
    return rows;
}

}  // namespace

std::vector<const CheckResult*> CheckReport::failed() const {
    std::vector<const CheckResult*> list;
    for (const CheckResult& result : results)
        if (!result.failures.empty()) list.push_back(&result);
    return list;
}

ordered_json document(const CheckReport& report) {
    ordered_json made = document(report.head);
    if (!report.pretend.empty()) made["pretend"] = report.pretend;
    made["planned"] = report.planned;
    made["checked"] = report.results.size();
    made["failed"] = report.failed().size();
    made["right"] = report.right();
    made["stopped"] = report.stopped;
    made["seconds"] = report.seconds;
    made["together"] = {{"checked", report.together}, {"differences", report.differences}};
    made["results"] = ordered_json::array();
    for (const CheckResult& result : report.results) made["results"].push_back(document(result));
    return made;
}

std::string summary(const CheckReport& report) {
    const std::size_t failed = report.failed().size();
    std::string line = text(report.results.size(), " of ", report.planned, " checks on ", report.head.device, ": ",
                            failed == 0 ? "all are right" : text(failed, failed == 1 ? " fails" : " fail"));
    if (const CheckResult* worst = largest(report))
        line += text("; largest error ", fixed(worst->worst, 2), " of its bound (", worst->name, ")");
    if (report.together > 0)
        line += report.differences.empty()
                    ? text("; two processes at once: the same bits in ", report.together, " checks")
                    : text("; two processes at once: other bits in ", report.differences.size(), " of ",
                           report.together, " checks");
    if (report.stopped) line += text("; stopped after ", duration_text(report.seconds));
    return line;
}

std::vector<std::vector<std::string>> failure_rows(const CheckReport& report) {
    std::vector<std::vector<std::string>> rows{{"check", "kernels", "fault"}};
    for (const CheckResult* result : report.failed())
        for (const std::string& failure : result->failures)
            rows.push_back({result->name, joined(result->kernels), failure});
    for (const std::string& name : report.differences)
        rows.push_back({name, "", "other bits while another process used the device"});
    return rows;
}

std::vector<std::vector<std::string>> table_rows(const CheckReport& report) {
    struct Sum {
        std::size_t done = 0, failed = 0;
        double worst = 0;
        std::string name;
    };
    std::map<std::string, Sum> sums;
    for (const CheckResult& result : report.results) {
        Sum& sum = sums[result.table];
        ++sum.done;
        sum.failed += !result.failures.empty();
        if (result.worst >= sum.worst) sum.worst = result.worst, sum.name = result.name;
    }
    std::vector<std::vector<std::string>> rows{{"ops", "checks", "failed", "largest error", "in"}};
    for (const auto& [table, sum] : sums)
        rows.push_back({table, text(sum.done), text(sum.failed), fixed(sum.worst, 3), sum.name});
    return rows;
}

std::vector<std::vector<std::string>> note_rows(const CheckReport& report) {
    std::vector<std::vector<std::string>> rows{{"check", "finding"}};
    for (const CheckResult& result : report.results)
        for (const std::string& note : result.notes) rows.push_back({result.name, note});
    return rows;
}

std::string markdown(const CheckReport& report) {
    std::string page = text("# vkformer check: ", report.right() ? "right" : "wrong", "\n\n", summary(report), ".\n\n",
                            vkf::markdown(run_rows(report)), "\n");
    if (!report.right()) page += text("## Failures\n\n", vkf::markdown(failure_rows(report)), "\n");
    if (const auto notes = note_rows(report); notes.size() > 1)
        page += text("## Batch invariance\n\n", vkf::markdown(notes), "\n");
    return page + text("## Checks by table of ops\n\nErrors are in units of their bounds.\n\n",
                       vkf::markdown(table_rows(report)));
}

std::string html_page(const CheckReport& report) {
    std::string body = html_paragraph(summary(report) + ".") + html_table(run_rows(report));
    if (!report.right()) body += html_heading("Failures") + html_table(failure_rows(report));
    if (const auto notes = note_rows(report); notes.size() > 1)
        body += html_heading("Batch invariance") + html_table(notes);
    body += html_heading("Checks by table of ops") + html_paragraph("Errors are in units of their bounds.") +
            html_table(table_rows(report));
    return html_document(text("vkformer check: ", report.head.device), body);
}

}  // namespace vkf
