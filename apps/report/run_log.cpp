#include "apps/report/run_log.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "apps/cli/option_values.h"
#include "apps/report/spread.h"
#include "base/error.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "base/text/json.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t METRICS_LIMIT = std::uint64_t{1} << 30;
constexpr std::size_t MOST_LAYERS = 10'000;

double number_of(const json& value) {
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void append(Series& series, double step, double value) {
    series.steps.push_back(step);
    series.values.push_back(value);
}

/// Adds the layers' numbers, if there is one for each.
void append(std::vector<Series>& layers, double step, const json& values, std::size_t count) {
    if (!values.is_array() || values.size() != count) return;
    layers.resize(count);
    for (std::size_t i = 0; i < count; ++i) append(layers[i], step, number_of(values[i]));
}

void take_probe(RunLog& run, double step, const json& probe) {
    if (!probe.is_object() || !probe.contains("layers") || !probe["layers"].is_array()) return;
    std::vector<std::string> layers;
    for (const json& layer : probe["layers"])
        if (layer.is_string()) layers.push_back(layer.get<std::string>());
    if (layers.size() != probe["layers"].size() || layers.empty() || layers.size() > MOST_LAYERS) return;
    if (run.layers.empty()) run.layers = layers;
    if (run.layers != layers) return;
    for (const auto& [name, values] : probe.items()) {
        if (!values.is_object()) continue;
        ProbedStatistic& statistic = run.probes[name];
        if (values.contains("first")) append(statistic.first, step, values["first"], layers.size());
        if (values.contains("all")) append(statistic.all, step, values["all"], layers.size());
    }
}

void take_part(RunLog& run, double step, const json& part) {
    if (!part.is_object()) return;
    RunPart& taken = run.parts.emplace_back();
    taken.step = step;
    for (const auto& [name, value] : part.items())
        if (value.is_string() || value.is_number_integer())
            taken.facts[name] = value.is_string() ? value.get<std::string>() : value.dump();
}

void take_line(RunLog& run, const json& entry) {
    if (!entry.contains("step") || !entry["step"].is_number_integer()) return;
    const double step = entry["step"].get<double>();
    for (const auto& [name, value] : entry.items()) {
        if (name == "probe")
            take_probe(run, step, value);
        else if (name == "run")
            take_part(run, step, value);
        else if (name == "sample" && value.is_string())
            run.samples[step] = value.get<std::string>();
        else if (name != "step" && value.is_number())
            append(run.series[name], step, value.get<double>());
    }
}

bool same_but_seed(const RunLog& a, const RunLog& b) {
    std::set<std::string> keys;
    for (const RunLog* run : {&a, &b})
        for (const ConfigEntry& entry : run->options) keys.insert(entry.key);
    keys.erase("seed");
    return !keys.empty() && std::ranges::all_of(keys, [&](const auto& key) { return a.option(key) == b.option(key); });
}

/// Options whose values the groups do not share, in the order of train.toml.
std::vector<std::string> differing_options(const std::vector<RunGroup>& groups) {
    std::vector<std::string> keys;
    for (const RunGroup& group : groups)
        for (const ConfigEntry& entry : group.runs.front()->options) {
            if (entry.key == "seed" || std::ranges::find(keys, entry.key) != keys.end()) continue;
            const std::string value = groups.front().runs.front()->option(entry.key);
            if (std::ranges::any_of(groups,
                                    [&](const RunGroup& at) { return at.runs.front()->option(entry.key) != value; }))
                keys.push_back(entry.key);
        }
    return keys;
}

}  // namespace

std::string RunPart::fact(const std::string& name) const {
    const auto found = facts.find(name);
    return found == facts.end() ? "" : found->second;
}

const Series* RunLog::find(const std::string& metric) const {
    const auto found = series.find(metric);
    return found == series.end() ? nullptr : &found->second;
}

std::optional<double> RunLog::best(const std::string& metric) const {
    const Series* found = find(metric);
    if (!found || !(is_accuracy(metric) || metric.ends_with("_loss"))) return std::nullopt;
    return is_accuracy(metric) ? std::ranges::max(found->values) : std::ranges::min(found->values);
}

bool is_accuracy(const std::string& metric) {
    return metric.ends_with("accuracy");
}

std::string RunLog::option(const std::string& key) const {
    const auto found = std::ranges::find(options, key, &ConfigEntry::key);
    return found == options.end() ? "" : argument(found->value);
}

RunLog read_run_log(const fs::path& directory) {
    RunLog run{.name = directory.string()};
    const fs::path metrics = directory / "metrics.jsonl", options = directory / "train.toml";
    require(file_exists(metrics), directory.string(), ": has no metrics.jsonl, wanted the directory of a training run");
    std::istringstream lines(read_small_text(metrics, METRICS_LIMIT));
    std::int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        json entry;
        try {
            entry = parse_json(line, text(metrics.string(), ": line ", number));
        } catch (const InputError&) {
            if (lines.peek() == std::istringstream::traits_type::eof()) break;  // cut short by a kill
            throw;
        }
        require(entry.is_object(), metrics.string(), ": line ", number, ": wanted an object");
        take_line(run, entry);
    }
    if (file_exists(options)) run.options = read_config(options);
    return run;
}

std::vector<RunGroup> grouped(const std::vector<RunLog>& runs) {
    std::vector<RunGroup> groups;
    for (const RunLog& run : runs) {
        const auto same = std::ranges::find_if(
            groups, [&](const RunGroup& group) { return same_but_seed(*group.runs.front(), run); });
        if (same == groups.end())
            groups.push_back({run.name, {&run}});
        else
            same->runs.push_back(&run);
    }
    const std::vector<std::string> keys = differing_options(groups);
    for (RunGroup& group : groups) {
        std::vector<std::string> values;
        if (keys.size() <= 3)
            for (const std::string& key : keys)
                if (const std::string value = group.runs.front()->option(key); !value.empty())
                    values.push_back(keys.size() == 1 ? value : key + " " + value);
        if (!values.empty()) group.name = joined(values, ", ");
        if (group.runs.size() > 1) group.name += text(" (", group.runs.size(), " seeds)");
    }
    return groups;
}

MeanSeries mean_of(const std::vector<const Series*>& series) {
    if (series.size() == 1) return {*series.front(), {}};
    std::map<double, std::vector<double>> by_step;
    for (const Series* each : series)
        for (std::size_t i = 0; i < each->steps.size(); ++i) by_step[each->steps[i]].push_back(each->values[i]);
    MeanSeries made;
    for (const auto& [step, values] : by_step) {
        if (values.size() != series.size()) continue;
        const Spread spread = spread_of(values);
        append(made.mean, step, spread.mean);
        made.deviation.push_back(spread.deviation);
    }
    return made;
}

}  // namespace vkf
