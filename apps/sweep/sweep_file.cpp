#include "apps/sweep/sweep_file.h"

#include <toml++/toml.h>
#include <algorithm>
#include <set>
#include <sstream>

#include "apps/cli/option_values.h"
#include "base/error.h"
#include "base/files/small_file.h"

namespace vkf {

namespace {

constexpr std::size_t MOST_RUNS = 10'000;

/// A node of the file, and its place for messages.
struct Place {
    std::string file;

    template <class Node>
    std::string of(const Node& node, const std::string& key) const {
        return text(file, ':', node.source().begin.line, ": ", key);
    }
};

ConfigValue value_of(const toml::node& node, const std::string& where) {
    if (const auto flag = node.value_exact<bool>()) return *flag;
    if (const auto whole = node.value_exact<std::int64_t>()) return *whole;
    if (const auto number = node.value_exact<double>()) return *number;
    const auto words = node.value_exact<std::string>();
    require(words && words->find('\0') == std::string::npos, where, ": wanted text in quotes, a number, true or false");
    return *words;
}

/// The node's values: of a list, or the node itself.
std::vector<ConfigValue> values_of(const toml::node& node, const std::string& where) {
    std::vector<ConfigValue> values;
    if (const auto* list = node.as_array())
        for (const toml::node& each : *list) values.push_back(value_of(each, where));
    else
        values.push_back(value_of(node, where));
    require(!values.empty(), where, ": the list is empty");
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            require(!same_value(values[i], values[j]), where, ": ", argument(values[i]), " is there twice");
    return values;
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

const toml::table& table_of(const toml::node& node, const std::string& where) {
    const toml::table* table = node.as_table();
    require(table != nullptr, where, ": wanted a table, [", where.substr(where.rfind(' ') + 1), "]");
    return *table;
}

/// Options that the sweep itself sets, or that make no sense in one.
void require_free_option(const std::string& key, const std::string& where) {
    for (const char* own : {"seed", "out-dir", "config", "resume", "overwrite", "dry-run", "quiet", "json"})
        require(key != own, where, ": the sweep sets this itself, or it has no meaning here");
}

/// Entries of a table in the order of the file.
std::vector<std::pair<std::string, const toml::node*>> entries_of(const toml::table& table) {
    std::vector<std::pair<std::string, const toml::node*>> entries;
    for (auto&& [key, node] : table) entries.emplace_back(std::string(std::string_view{key}), &node);
    std::ranges::stable_sort(entries, {}, [](const auto& entry) {
        return std::pair(entry.second->source().begin.line, entry.second->source().begin.column);
    });
    return entries;
}

void take_grid(Sweep& sweep, const toml::table& grid, const Place& place) {
    sweep.points = {{}};
    for (const auto& [key, node] : entries_of(grid)) {
        const std::string where = place.of(*node, key);
        require_free_option(key, where);
        const std::vector<ConfigValue> values = values_of(*node, where);
        require(sweep.points.size() * values.size() <= MOST_RUNS, where, ": the grid has more than ", MOST_RUNS,
                " points");
        std::vector<GridPoint> points;
        for (const GridPoint& point : sweep.points)
            for (const ConfigValue& value : values) {
                points.push_back(point);
                points.back().emplace_back(key, value);
            }
        sweep.points = std::move(points);
    }
}

void take(Sweep& sweep, const std::string& key, const toml::node& node, const Place& place) {
    const std::string where = place.of(node, key);
    if (key == "train") {
        sweep.train = word_of(value_of(node, where), where);
    } else if (key == "config") {
        for (const ConfigValue& value : values_of(node, where)) sweep.configs.push_back(word_of(value, where));
    } else if (key == "seeds") {
        for (const ConfigValue& value : values_of(node, where)) sweep.seeds.push_back(seed_of(value, where));
    } else if (key == "options") {
        for (const auto& [option, value] : entries_of(table_of(node, where))) {
            require_free_option(option, place.of(*value, option));
            sweep.options.emplace_back(option, value_of(*value, place.of(*value, option)));
        }
    } else if (key == "grid") {
        take_grid(sweep, table_of(node, where), place);
    } else {
        throw InputError(where, ": unknown, wanted train, config, seeds, [options] or [grid]");
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
    const std::string file = read_small_text(path);
    toml::table table;
    try {
        table = toml::parse(std::string_view(file), path.string());
    } catch (const toml::parse_error& error) {
        throw InputError(path.string(), ':', error.source().begin.line, ": not TOML: ", error.description());
    }
    Sweep sweep{.points = {{}}};
    const Place place{path.string()};
    for (const auto& [key, node] : entries_of(table)) take(sweep, key, *node, place);
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
