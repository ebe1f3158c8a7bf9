#include "apps/sweep/sweep_file.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "apps/cli/option_values.h"
#include "base/error.h"

namespace vkf {

namespace {

constexpr std::size_t MOST_RUNS = 10'000;

/// Throws InputError for a list that has a value twice.
void require_distinct(const ConfigItem& item) {
    for (std::size_t i = 0; i < item.values.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            require(!same_value(item.values[i], item.values[j]), item.where, ": ", argument(item.values[i]),
                    " is there twice");
}

std::string word_of(const ConfigValue& value, const std::string& where) {
    const auto* words = std::get_if<std::string>(&value);
    require(words && !words->empty(), where, ": wanted text in quotes");
    return *words;
}

std::uint64_t seed_of(const ConfigValue& value, const std::string& where) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    require(whole && *whole >= 0, where, ": wanted whole numbers from 0");
    return static_cast<std::uint64_t>(*whole);
}

/// Refuses options that the sweep itself sets, or with which a run ends before its last step as if it were done.
void require_free_option(const std::string& key, const std::string& where) {
    for (const char* own : {"seed", "out-dir", "config", "resume", "overwrite", "dry-run", "max-minutes"})
        require(key != own, where, ": not for the runs of a sweep");
}

/// Multiplies the points by the values of one more option.
void add_axis(Sweep& sweep, const ConfigItem& item) {
    require(sweep.points.size() * item.values.size() <= MOST_RUNS, item.where, ": the grid has more than ", MOST_RUNS,
            " points");
    std::vector<GridPoint> points;
    for (const GridPoint& point : sweep.points)
        for (const ConfigValue& value : item.values) {
            points.push_back(point);
            points.back().emplace_back(item.key, value);
        }
    sweep.points = std::move(points);
}

void take(Sweep& sweep, const ConfigItem& item) {
    require_distinct(item);
    if (item.table == "grid") {
        require_free_option(item.key, item.where);
        add_axis(sweep, item);
    } else if (item.table == "options") {
        require_free_option(item.key, item.where);
        require(item.values.size() == 1, item.where, ": found a list, wanted one value; lists are for [grid]");
        sweep.options.emplace_back(item.key, item.values.front());
    } else if (item.table.empty() && item.key == "train") {
        sweep.train = word_of(item.values.front(), item.where);
    } else if (item.table.empty() && item.key == "config") {
        for (const ConfigValue& value : item.values) sweep.configs.push_back(word_of(value, item.where));
    } else if (item.table.empty() && item.key == "seeds") {
        for (const ConfigValue& value : item.values) sweep.seeds.push_back(seed_of(value, item.where));
    } else {
        throw InputError(item.where, ": unknown, wanted train, config, seeds, [options] or [grid]");
    }
}

/// A value in the characters of file names.
std::string name_of(const ConfigValue& value) {
    std::string made = argument(value);
    for (char& c : made)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_') c = '_';
    return made;
}

}  // namespace

Sweep read_sweep(const std::filesystem::path& path) {
    Sweep sweep{.points = {{}}};
    for (const ConfigItem& item : read_config_items(path)) take(sweep, item);
    require(!sweep.train.empty(), path.string(), ": 'train' is missing, for example train = \"gpt\"");
    if (sweep.seeds.empty()) sweep.seeds = {1337};
    require(sweep.points.size() * sweep.seeds.size() <= MOST_RUNS, path.string(), ": ",
            sweep.points.size() * sweep.seeds.size(), " runs, wanted at most ", MOST_RUNS);
    for (const GridPoint& point : sweep.points)
        for (const auto& [key, value] : point)
            for (const auto& [option, ignored] : sweep.options)
                require(key != option, path.string(), ": ", key, " is in [options] and in [grid]");
    return sweep;
}

std::vector<SweepRun> runs_of(const Sweep& sweep) {
    std::vector<SweepRun> runs;
    std::set<std::string> names;
    for (const std::uint64_t seed : sweep.seeds)
        for (const GridPoint& point : sweep.points) {
            std::string name;
            for (const auto& [key, value] : point) name += key + "-" + name_of(value) + ".";
            name += text("seed-", seed);
            require(names.insert(name).second, "two runs of the sweep have the name ", name,
                    ", because their values differ only in characters that are not in file names");
            runs.push_back({name, &point, seed});
        }
    return runs;
}

std::string point_text(const GridPoint& point) {
    if (point.empty()) return "all";
    if (point.size() == 1) return argument(point.front().second);
    std::vector<std::string> parts;
    for (const auto& [key, value] : point) parts.push_back(key + " " + argument(value));
    return joined(parts, ", ");
}

std::string options_toml(const Sweep& sweep, const GridPoint& point) {
    std::string made;
    for (const GridPoint* part : {&sweep.options, &point})
        for (const auto& [key, value] : *part) made += toml_line(key, value);
    return made;
}

}  // namespace vkf
