#include "models/data/pairs/parallel_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/text/json.h"
#include "models/data/text/text.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

/// Lines of a text in which every line has an end.
std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool is_blank(std::string_view line) {
    return line.find_first_not_of(" \t") == std::string_view::npos;
}

/// Adds a pair. `number` counts lines from 1.
void add_pair(ParallelText& text, std::size_t number, std::string source, std::string target) {
    const bool blank = is_blank(source);
    if (blank && is_blank(target)) {
        ++text.skipped;
        return;
    }
    require(blank == is_blank(target), blank ? text.source_name : text.target_name, ": line ", number,
            " is empty, and that of ", blank ? text.target_name : text.source_name, " is not");
    text.source.push_back(std::move(source));
    text.target.push_back(std::move(target));
}

void require_pairs(const ParallelText& text) {
    require(!text.source.empty(), text.source_name, ": has no sentence");
}

/// Source and target of a line of a .tsv file.
std::array<std::string, 2> columns(const std::string& where, const std::string& line) {
    const std::size_t tab = line.find('\t');
    require(tab != std::string::npos && line.find('\t', tab + 1) == std::string::npos, where,
            ": wanted two columns with one tab between them");
    return {line.substr(0, tab), line.substr(tab + 1)};
}

std::array<std::string, 2> members(const std::string& where, const std::string& line, const PairKeys& keys) {
    const nlohmann::json object = parse_json(line, where);
    const auto member = [&](const std::string& key) {
        require(object.is_object() && object.contains(key) && object[key].is_string(), where,
                ": wanted an object with texts '", keys.source, "' and '", keys.target, "'");
        std::string words = object[key].get<std::string>();
        for (char& c : words)
            if (c == '\n' || c == '\r') c = ' ';
        return words;
    };
    return {member(keys.source), member(keys.target)};
}

}  // namespace

PairKeys pair_keys(const std::string& words) {
    const std::size_t comma = words.find(',');
    require(comma != std::string::npos && comma > 0 && comma + 1 < words.size(), "--fields is '", words,
            "', wanted two names with a comma between them");
    return {words.substr(0, comma), words.substr(comma + 1)};
}

ParallelText read_parallel_files(const fs::path& source, const fs::path& target) {
    std::vector<std::string> sources = lines_of(read_corpus(source)), targets = lines_of(read_corpus(target));
    require(sources.size() == targets.size(), source.string(), " has ", sources.size(), " lines, ", target.string(),
            " has ", targets.size(), ", wanted as many");
    ParallelText text{{}, {}, source.string(), target.string()};
    for (std::size_t i = 0; i < sources.size(); ++i)
        add_pair(text, i + 1, std::move(sources[i]), std::move(targets[i]));
    require_pairs(text);
    return text;
}

ParallelText read_pair_file(const fs::path& path, const PairKeys& keys) {
    const bool json = path.extension() == ".jsonl";
    require(json || path.extension() == ".tsv", path.string(), ": wanted a file of pairs, .tsv or .jsonl");
    ParallelText text{{}, {}, path.string(), path.string()};
    std::string content = json ? read_text(path) : read_corpus(path);
    unify_line_ends(content);
    std::size_t number = 0;
    for (const std::string& line : lines_of(content)) {
        ++number;
        if (is_blank(line)) continue;
        const std::string where = vkf::text(path.string(), ": line ", number);
        auto [source, target] = json ? members(where, line, keys) : columns(where, line);
        add_pair(text, number, std::move(source), std::move(target));
    }
    require_pairs(text);
    return text;
}

}  // namespace vkf
