#include "models/tokenizers/bpe/gpt2_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "models/tokenizers/bpe/byte_level_model.h"
#include "models/tokenizers/token_names.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view VERSION = "#version";  // begins the first line, in most files

std::vector<Merge> read_merges(const fs::path& path, const TokenNames& names) {
    const std::string file = path.string(), content = read_small_text(path, VOCABULARY_LIMIT);
    const auto wrong = invalid_utf8(content);
    require(!wrong, file, ": is not UTF-8 at byte ", wrong.value_or(0));
    const std::size_t first = content.starts_with(VERSION) ? 2 : 1;
    const auto where = [&](std::size_t merge) { return text(file, ": line ", first + merge); };
    MergeReader reader(names, where);
    std::string_view rest = content;
    const auto next_line = [&] {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        return line;
    };
    if (first == 2) next_line();
    while (!rest.empty()) {
        const std::string_view line = next_line();
        const std::size_t space = line.find(' ');
        const bool two =
            space != line.npos && space > 0 && space + 1 < line.size() && line.find(' ', space + 1) == line.npos;
        if (!two) {
            const std::string found = one_line(nlohmann::json(line));
            throw InputError(where(reader.merges.size()), ": found ", found,
                             ", wanted two tokens with a space between");
        }
        reader.add(std::string(line.substr(0, space)), std::string(line.substr(space + 1)));
    }
    return std::move(reader.merges);
}

}  // namespace

BpeModel read_gpt2_files(const fs::path& vocabulary, const fs::path& merges, const TokenSettings& settings) {
    const std::string file = vocabulary.string();
    TokenNames names(parse_json(read_small_text(vocabulary, VOCABULARY_LIMIT), file), file);
    BpeModel model;
    model.bounds.end = names.find(std::string(END_OF_TEXT));
    if (model.bounds.end) model.added.push_back({std::string(END_OF_TEXT), *model.bounds.end});
    settings.add_to(names, model.added);
    settings.decide(model.bounds, model.added);
    read_byte_level_tokens(model, names.by_number());
    model.merges = read_merges(merges, names);
    model.splits.push_back({Pattern(GPT2_PATTERN, "GPT-2's pattern")});
    return model;
}

std::string vocab_json(const BpeModel& model) {
    nlohmann::ordered_json tree = nlohmann::ordered_json::object();
    auto& entries = tree.get_ref<nlohmann::ordered_json::object_t&>();
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < model.tokens.size(); ++token) {
        entries.emplace_back(token_name(model, token), token);  // the names differ: no search for equal ones
    }
    return tree.dump() + "\n";
}

std::string merges_txt(const BpeModel& model) {
    std::string lines = text(VERSION, ": 0.2\n");
    for (const Merge& merge : model.merges) {
        lines += token_name(model, merge.left) + " " + token_name(model, merge.right) + "\n";
    }
    return lines;
}

}  // namespace vkf
