#include "apps/sweep/sweep_results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/cli/common.h"
#include "base/error.h"

namespace vkf {

namespace {

/// 97.5 % quantiles of Student's t distribution for 1, 2, … degrees of freedom; beyond them it is close to the normal
/// distribution's.
constexpr std::array STUDENT{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double NORMAL = 1.960;

std::string number(double value, const std::string& metric) {
    return is_accuracy(metric) ? fixed(100 * value, 2) : fixed(value, 4);
}

}  // namespace

SweepResult result_of(const SweepRun& run, const RunLog& log) {
    SweepResult made{point_text(*run.point), run.seed, {}};
    for (const auto& [name, series] : log.series)
        if (const std::optional<double> best = log.best(name)) made.best[name] = *best;
    return made;
}

std::optional<double> confidence(const Spread& spread) {
    if (spread.count < 2) return std::nullopt;
    const std::size_t freedom = spread.count - 1;
    const double t = freedom <= STUDENT.size() ? STUDENT[freedom - 1] : NORMAL;
    return t * spread.deviation / std::sqrt(static_cast<double>(spread.count));
}

std::string deciding_metric(const std::vector<SweepResult>& results) {
    for (const char* metric : {"val_accuracy", "val_loss"})
        if (std::ranges::all_of(results, [&](const SweepResult& result) { return result.best.contains(metric); }))
            return metric;
    throw InputError("the runs of the sweep have no metric in common: wanted val_accuracy or val_loss");
}

std::vector<Comparison> compare(const std::vector<SweepResult>& results, const std::string& metric) {
    std::vector<std::string> points;
    std::map<std::string, std::map<std::uint64_t, double>> values;
    for (const SweepResult& result : results) {
        if (std::ranges::find(points, result.point) == points.end()) points.push_back(result.point);
        values[result.point][result.seed] = result.best.at(metric);
    }
    std::vector<Comparison> made;
    for (const std::string& point : points) {
        std::vector<double> all, differences;
        for (const auto& [seed, value] : values[point]) {
            all.push_back(value);
            const auto& first = values[points.front()];
            if (const auto pair = first.find(seed); pair != first.end()) differences.push_back(value - pair->second);
        }
        Comparison& row = made.emplace_back(point, spread_of(all));
        if (point != points.front() && !differences.empty()) row.difference = spread_of(differences);
    }
    return made;
}

std::vector<std::vector<std::string>> comparison_rows(const std::vector<Comparison>& comparisons,
                                                      const std::string& metric) {
    std::vector<std::vector<std::string>> rows{{"point", "runs", "best " + metric + (is_accuracy(metric) ? ", %" : ""),
                                                "difference in a seed", "95 % interval"}};
    for (const auto& [point, values, difference] : comparisons) {
        std::vector<std::string>& row = rows.emplace_back(std::vector{point, text(values.count)});
        row.push_back(number(values.mean, metric) +
                      (values.count > 1 ? " ± " + number(values.deviation, metric) : std::string()));
        row.push_back(difference ? (difference->mean > 0 ? "+" : "") + number(difference->mean, metric) : "");
        const std::optional<double> half = difference ? confidence(*difference) : std::nullopt;
        row.push_back(
            half ? text(number(difference->mean - *half, metric), " to ", number(difference->mean + *half, metric))
                 : "");
    }
    return rows;
}

nlohmann::ordered_json comparison_document(const std::vector<Comparison>& comparisons, const std::string& metric) {
    nlohmann::ordered_json document{{"metric", metric}, {"points", nlohmann::ordered_json::array()}};
    for (const auto& [point, values, difference] : comparisons) {
        nlohmann::ordered_json row{
            {"point", point}, {"runs", values.count}, {"mean", values.mean}, {"deviation", values.deviation}};
        if (difference) {
            row["difference"] = difference->mean;
            row["pairs"] = difference->count;
            if (const std::optional<double> half = confidence(*difference))
                row["interval"] = {difference->mean - *half, difference->mean + *half};
        }
        document["points"].push_back(std::move(row));
    }
    return document;
}

}  // namespace vkf
