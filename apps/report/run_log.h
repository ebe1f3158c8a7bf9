// History of a training run, as its directory has it: metrics.jsonl and train.toml.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/config_file.h"

namespace vkf {

/// Numbers by step; a number that is not finite stands for one that the run does not have.
struct Series {
    std::vector<double> steps, values;
};

/// One statistic of attention, by layer: of first tokens and of all (models/probes/attention_statistics.h).
struct ProbedStatistic {
    std::vector<Series> first, all;
};

/// Steps that one process did, from the member "run" of metrics.jsonl (apps/train/run_part.h).
struct RunPart {
    double step = 0;                           // the first
    std::map<std::string, std::string> facts;  // texts and whole numbers by name

    /// Fact of this name, or "".
    std::string fact(const std::string& name) const;
};

struct RunLog {
    std::string name;                      // the directory, as the user named it
    std::map<std::string, Series> series;  // members of metrics.jsonl by name
    std::vector<RunPart> parts;            // none in a run of an earlier version
    std::vector<std::string> layers;       // of the probes
    std::map<std::string, ProbedStatistic> probes;
    std::map<double, std::string> samples;  // texts that the model wrote, by step
    std::vector<ConfigEntry> options;  // of train.toml

    /// Series of this name, or null.
    const Series* find(const std::string& metric) const;
    /// Best number of an evaluation's metric: the highest accuracy, the lowest loss; nothing for others.
    std::optional<double> best(const std::string& metric) const;
    /// Option as the command line has it; "" if the run has none of this name.
    std::string option(const std::string& key) const;
};

/// True if higher numbers of the metric are better.
bool is_accuracy(const std::string& metric);

/// Reads a run. Throws InputError if there is no metrics.jsonl, or a line of it, but the last, is no JSON object.
RunLog read_run_log(const std::filesystem::path& directory);

/// Runs that differ in nothing but their seeds, and the name that tells them from other groups: values of options that
/// the groups do not share, or the directory.
struct RunGroup {
    std::string name;
    std::vector<const RunLog*> runs;
};

/// Groups runs, in the order of their first runs.
std::vector<RunGroup> grouped(const std::vector<RunLog>& runs);

/// Mean of the runs at steps that all of them have, and its standard deviation, which is empty for one run.
struct MeanSeries {
    Series mean;
    std::vector<double> deviation;
};
MeanSeries mean_of(const std::vector<const Series*>& series);

}  // namespace vkf
