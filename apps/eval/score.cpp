// vkformer score: BLEU and chrF2 of translations.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/eval/translation_scores.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/text/utf8.h"

namespace vkf {

namespace {

struct ScoreOptions {
    std::string translations;
    std::vector<std::string> references;
};

/// Lines of a file, or of standard input if its name is "-".
std::vector<std::string> lines_of(const std::string& name) {
    const bool standard_input = name == "-";
    const std::string shown = standard_input ? "standard input" : name;
    const std::string content = standard_input ? read_standard_input() : read_text(name);
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < content.size();) {
        const std::size_t end = std::min(content.find('\n', begin), content.size());
        lines.push_back(content.substr(begin, end - begin));
        require(!invalid_utf8(lines.back()), shown, ": line ", lines.size(), " is not UTF-8");
        begin = end + 1;
    }
    return lines;
}

void run_score(const Common& common, const ScoreOptions& o) {
    const std::vector<std::string> translations = lines_of(o.translations);
    require(!translations.empty(), o.translations, " is empty, wanted a translation on every line");
    std::vector<std::vector<std::string>> references;  // a list per reference
    for (const std::string& name : o.references) {
        references.push_back(lines_of(name));
        require(references.back().size() == translations.size(), name, " has ", references.back().size(), " lines and ",
                o.translations, " has ", translations.size(), ", wanted a reference for every translation");
    }

    TranslationScores scores(references.size());
    for (std::size_t i = 0; i < translations.size(); ++i) {
        std::vector<std::string> wanted;
        for (const auto& reference : references) wanted.push_back(reference[i]);
        scores.add(translations[i], wanted);
    }
    if (common.json) return print_json(scores.document());
    print(scores.lines());
}

}  // namespace

void add_score(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("score", "BLEU and chrF2 of translations, as sacrebleu computes them");
    auto o = std::make_shared<ScoreOptions>();
    command.add_option("translations", o->translations, "Translations, one on a line; - is standard input")
        .required()
        .type_name("FILE");
    command
        .add_option("--reference", o->references,
                    "Right translations of the same lines; several files are several references")
        .required()
        .type_name("FILE...");
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer score translated.de --reference test.de\n"
        "  vkformer score - --reference first.de second.de < translated.de\n"
        "\n"
        "Texts are not tokenized: BLEU divides them as mteval-v13a does, chrF2 counts characters. The signatures say\n"
        "how, in sacrebleu's words; numbers equal those of sacrebleu 2.");
    command.callback([o, &common] { run_score(common, *o); });
}

}  // namespace vkf
