#include "apps/report/report_page.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "apps/cli/common.h"
#include "apps/cli/progress.h"
#include "apps/report/html_page.h"
#include "apps/report/spread.h"
#include "base/error.h"
#include "base/text/plain_text.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

/// A cell whose words may take several lines, over a number of columns.
std::string words_cell(const std::string& words, std::size_t columns) {
    return text("<td class=\"words\" colspan=\"", columns, "\">", xml_text(words), "</td>");
}

/// Best value of a metric in each run of the group, as "mean ± deviation"; "" if a run lacks it.
std::string best_of(const RunGroup& group, const std::string& metric) {
    std::vector<double> best;
    for (const RunLog* run : group.runs) {
        const std::optional<double> each = run->best(metric);
        if (!each) return "";
        best.push_back(*each);
    }
    const auto shown = [&](double value) { return is_accuracy(metric) ? percent_text(value) : fixed(value, 4); };
    const Spread spread = spread_of(best);
    return spread.count == 1 ? shown(spread.mean) : text(shown(spread.mean), " ± ", shown(spread.deviation));
}

/// Time of the group's logged steps, mean of its runs.
std::string time_of(const RunGroup& group) {
    double sum = 0;
    for (const RunLog* run : group.runs) {
        const Series* series = run->find("ms");
        if (!series) return "";
        for (const double ms : series->values) sum += ms;
    }
    return duration_text(sum / 1000 / static_cast<double>(group.runs.size()));
}

std::string last_step(const RunGroup& group) {
    double last = 0;
    for (const RunLog* run : group.runs)
        for (const auto& [name, series] : run->series) last = std::max(last, series.steps.back());
    return text(last);
}

std::string results(const std::vector<RunGroup>& groups) {
    const bool accuracy =
        std::ranges::any_of(groups, [](const RunGroup& group) { return !best_of(group, "val_accuracy").empty(); });
    std::vector<std::string> headings{"run", "runs", "steps", "best validation loss"};
    if (accuracy) headings.emplace_back("best validation accuracy");
    headings.emplace_back("time of the logged steps");
    std::string made = "<div class=\"table\"><table>\n" + html_heading_row(headings);
    for (const RunGroup& group : groups) {
        made += "<tr>" + html_cell(group.name) + html_cell(text(group.runs.size()), true) +
                html_cell(last_step(group), true) + html_cell(best_of(group, "val_loss"), true);
        if (accuracy) made += html_cell(best_of(group, "val_accuracy"), true);
        made += html_cell(time_of(group), true) + "</tr>\n";
    }
    return made + "</table></div>\n";
}

/// Facts of a run's part and their headings; the command has a row of its own.
struct FactColumn {
    const char *fact, *heading;
    bool is_long = false;  // may take several lines
};

constexpr FactColumn FACTS[] = {
    {"start", "start"},         {"device", "device", true},       {"driver", "driver", true},
    {"vulkan", "Vulkan"},       {"processor", "processor", true}, {"vkformer", "vkformer", true},
    {"precision", "precision"}, {"parameters", "parameters"}};

/// Table of what made the group's runs: a row for each part of each run, and one for its command.
std::string parts(const RunGroup& group) {
    std::vector<std::string> headings{"run", "from step"};
    for (const FactColumn& column : FACTS) headings.emplace_back(column.heading);
    std::string rows;
    for (const RunLog* run : group.runs) {
        if (run->parts.empty())
            rows += "<tr>" + html_cell(run->name) + words_cell("not recorded", std::size(FACTS) + 1) + "</tr>\n";
        for (const RunPart& part : run->parts) {
            rows += "<tr>" + html_cell(run->name) + html_cell(text(part.step), true);
            for (const auto& [fact, heading, is_long] : FACTS)
                rows += is_long ? words_cell(part.fact(fact), 1) : html_cell(part.fact(fact));
            rows += "</tr>\n";
            if (const std::string command = part.fact("command"); !command.empty())
                rows += "<tr><td></td>" + words_cell(command, std::size(FACTS) + 1) + "</tr>\n";
        }
    }
    return "<div class=\"table\"><table>\n" + html_heading_row(headings) + rows + "</table></div>\n";
}

/// Tables of all groups; "" if no run says what made it.
std::string parts(const std::vector<RunGroup>& groups) {
    const auto is_told = [](const RunGroup& group) {
        return std::ranges::any_of(group.runs, [](const RunLog* run) { return !run->parts.empty(); });
    };
    if (std::ranges::none_of(groups, is_told)) return "";
    std::string tables;
    for (const RunGroup& group : groups)
        tables += (groups.size() == 1 ? "" : text("<h3>", xml_text(group.name), "</h3>\n")) + parts(group);
    return tables;
}

/// Table of options; either those whose values differ between groups, or the others.
std::string options(const std::vector<RunGroup>& groups, bool differing) {
    std::vector<std::string> keys;
    for (const RunGroup& group : groups)
        for (const ConfigEntry& entry : group.runs.front()->options)
            if (std::ranges::find(keys, entry.key) == keys.end()) keys.push_back(entry.key);
    std::string rows;
    for (const std::string& key : keys) {
        const std::string value = groups.front().runs.front()->option(key);
        const bool same = std::ranges::all_of(
            groups, [&](const RunGroup& group) { return group.runs.front()->option(key) == value; });
        if (same == differing) continue;
        rows += "<tr>" + html_cell(key);
        if (same)
            rows += html_cell(value);
        else
            for (const RunGroup& group : groups) rows += html_cell(group.runs.front()->option(key));
        rows += "</tr>\n";
    }
    if (rows.empty()) return "";
    std::vector<std::string> headings{"option"};
    for (const RunGroup& group : groups) headings.push_back(group.name);
    if (!differing) headings = {"option", "value"};
    return "<div class=\"table\"><table>\n" + html_heading_row(headings) + rows + "</table></div>\n";
}

/// Steps whose texts are shown: up to `most`, evenly spread from the first to the last.
std::vector<double> shown_steps(const std::map<double, std::string>& samples, std::size_t most) {
    std::vector<double> all, shown;
    for (const auto& [step, words] : samples) all.push_back(step);
    const std::size_t count = std::min(most, all.size());
    for (std::size_t i = 0; i < count; ++i)
        shown.push_back(all[count == 1 ? all.size() - 1 : i * (all.size() - 1) / (count - 1)]);
    return shown;
}

/// Texts that the first run of each group wrote; "" if none wrote any.
std::string samples(const std::vector<RunGroup>& groups) {
    constexpr std::size_t most_texts = 5, most_bytes = 4000;
    std::string rows;
    for (const RunGroup& group : groups) {
        const RunLog& run = *group.runs.front();
        for (const double step : shown_steps(run.samples, most_texts)) {
            const std::string words = plain_text(run.samples.at(step).substr(0, most_bytes));
            rows += "<tr>" + (groups.size() == 1 ? "" : html_cell(group.name)) + html_cell(text(step), true) +
                    text("<td class=\"words\"><pre>", xml_text(words), "</pre></td></tr>\n");
        }
    }
    if (rows.empty()) return "";
    std::vector<std::string> headings{"step", "text"};
    if (groups.size() > 1) headings.insert(headings.begin(), "run");
    return "<div class=\"table\"><table>\n" + html_heading_row(headings) + rows + "</table></div>\n";
}

}  // namespace

std::string report_page(const std::vector<RunGroup>& groups, const std::vector<ReportSection>& sections,
                        const std::vector<ReportPicture>& pictures) {
    std::string names;
    for (const RunGroup& group : groups) names += (names.empty() ? "" : ", ") + group.runs.front()->name;
    std::string page = results(groups);
    for (const auto& [heading, figures] : sections) {
        if (figures.empty()) continue;
        page += text("<h2>", xml_text(heading), "</h2>\n<div class=\"figures\">\n");
        for (const Figure& figure : figures) page += "<figure>" + line_plot_svg(figure.plot) + "</figure>\n";
        page += "</div>\n";
    }
    if (!pictures.empty()) {
        page += "<h2>Pictures</h2>\n<div class=\"figures\">\n";
        for (const ReportPicture& picture : pictures) page += picture_element(picture);
        page += "</div>\n";
    }
    if (const std::string made = samples(groups); !made.empty()) page += "<h2>Texts</h2>\n" + made;
    const std::string differing = options(groups, true), shared = options(groups, false);
    if (!differing.empty()) page += "<h2>Options that differ</h2>\n" + differing;
    if (!shared.empty()) page += "<h2>Options of all runs</h2>\n" + shared;
    if (const std::string made = parts(groups); !made.empty()) page += "<h2>Programs and devices</h2>\n" + made;
    return html_document(names, page);
}

}  // namespace vkf
