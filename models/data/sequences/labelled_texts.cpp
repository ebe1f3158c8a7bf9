#include "models/data/sequences/labelled_texts.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/published.h"
#include "base/text/json.h"
#include "models/data/files_below.h"
#include "models/data/text/text.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t HELD_OUT = 10;  // of so many examples, one validates

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\n") == std::string_view::npos;
}

void add_example(LabelledTexts& set, const std::string& where, std::string words, std::string label) {
    require(!is_blank(words), where, " has no text");
    require(!is_blank(label), where, " has no label");
    set.texts.push_back(std::move(words));
    set.labels.push_back(std::move(label));
}

void add_columns(LabelledTexts& set, const std::string& where, std::string_view line) {
    const std::size_t tab = line.find('\t');
    require(tab != std::string_view::npos && line.find('\t', tab + 1) == std::string_view::npos, where,
            ": wanted a text and its label with one tab between them");
    add_example(set, where, std::string(line.substr(0, tab)), std::string(line.substr(tab + 1)));
}

void add_members(LabelledTexts& set, const std::string& where, std::string_view line, const LabelKeys& keys) {
    const nlohmann::json object = parse_json(line, where);
    const auto member = [&](const std::string& key) {
        return object.is_object() && object.contains(key) ? object[key] : nlohmann::json();
    };
    const nlohmann::json words = member(keys.text), label = member(keys.label);
    require(words.is_string() && (label.is_string() || label.is_number_integer()), where,
            ": wanted an object with a text '", keys.text, "' and a label '", keys.label, "'");
    add_example(set, where, words.get<std::string>(), label.is_string() ? label.get<std::string>() : label.dump());
}

bool is_header(std::string_view line) {
    return line == "Source\tTarget" || line == "text\tlabel";
}

/// Text files below folders of classes.
LabelledTexts read_folder(const fs::path& folder) {
    LabelledTexts set{.name = folder.string()};
    for (const fs::path& file : files_below(folder)) {
        const fs::path below = file.lexically_relative(folder);
        if (file.extension() != ".txt" || std::next(below.begin()) == below.end()) continue;
        add_example(set, file.string(), read_corpus(file), below.begin()->string());
    }
    require(set.size() > 0, folder.string(), ": has no folders of .txt files, one for each class");
    return set;
}

/// The split's own file or folder in a directory; nothing if there is none.
std::optional<fs::path> find_split(const fs::path& directory, std::string_view split) {
    std::vector<fs::path> found;
    for (const char* extension : {".tsv", ".jsonl"})
        if (const fs::path file = directory / text(split, extension); file_exists(file)) found.push_back(file);
    if (const fs::path folder = directory / split; fs::is_directory(folder)) found.push_back(folder);
    if (found.empty()) return {};
    require(found.size() == 1, directory.string(), ": has ", found.front().filename().string(), " and ",
            found.back().filename().string(), ", wanted one of them");
    return found.front();
}

LabelledTexts read_found(const fs::path& path, const LabelKeys& keys) {
    return fs::is_directory(path) ? read_folder(path) : read_labelled_file(path, keys);
}

/// Every tenth example, or all others.
LabelledTexts part_of(LabelledTexts set, bool held_out) {
    LabelledTexts made{.name = set.name};
    for (std::size_t i = 0; i < set.size(); ++i) {
        if ((i % HELD_OUT == HELD_OUT - 1) != held_out) continue;
        made.texts.push_back(std::move(set.texts[i]));
        made.labels.push_back(std::move(set.labels[i]));
    }
    require(made.size() > 0, set.name, ": has ", set.size(), " examples, wanted at least ", HELD_OUT,
            ", of which every tenth validates");
    return made;
}

std::optional<std::int64_t> whole_number(const std::string& word) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

LabelKeys label_keys(const std::string& words) {
    const std::size_t comma = words.find(',');
    require(comma != std::string::npos && comma > 0 && comma + 1 < words.size(), "--label-fields is '", words,
            "', wanted two names with a comma between them");
    return {words.substr(0, comma), words.substr(comma + 1)};
}

LabelledTexts read_labelled_file(const fs::path& path, const LabelKeys& keys) {
    const bool json = path.extension() == ".jsonl";
    require(json || path.extension() == ".tsv", path.string(), ": wanted texts with labels, .tsv or .jsonl");
    LabelledTexts set{.name = path.string()};
    std::string content = json ? read_text(path) : read_corpus(path);
    unify_line_ends(content);
    std::size_t number = 0;
    for (std::string_view rest = content; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (++number; is_blank(line) || (!json && number == 1 && is_header(line))) continue;
        const std::string where = text(path.string(), ": line ", number);
        json ? add_members(set, where, line, keys) : add_columns(set, where, line);
    }
    require(set.size() > 0, path.string(), ": has no example");
    return set;
}

LabelledTexts read_labelled_split(const fs::path& path, std::string_view split, const LabelKeys& keys) {
    const bool directory = fs::is_directory(path), val = split == "val";
    require(directory || split != "test", path.string(), ": has no split 'test', wanted a directory that has one");
    if (!directory) return part_of(read_labelled_file(path, keys), val);
    if (val || split == "train")
        if (const auto train = find_split(path, "train"); train && !find_split(path, "val"))
            return part_of(read_found(*train, keys), val);
    const std::optional<fs::path> own = find_split(path, split);
    require(own.has_value(), path.string(), ": wanted ", split, ".tsv, ", split, ".jsonl, or a folder ", split,
            " with a folder of .txt files for each class");
    return read_found(*own, keys);
}

std::vector<std::string> classes_of(const std::vector<const LabelledTexts*>& sets) {
    std::set<std::string> distinct;
    for (const LabelledTexts* set : sets) distinct.insert(set->labels.begin(), set->labels.end());
    std::vector<std::string> classes(distinct.begin(), distinct.end());
    if (std::ranges::all_of(classes, [](const std::string& label) { return whole_number(label).has_value(); }))
        std::ranges::sort(classes, {}, [](const std::string& label) { return whole_number(label); });
    return classes;
}

}  // namespace vkf
