// vkformer score: BLEU and chrF2 of translations.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/version.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/text/utf8.h"
#include "models/translation/bleu.h"
#include "models/translation/chrf.h"

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

    Bleu bleu;
    ChrF chrf;
    for (std::size_t i = 0; i < translations.size(); ++i) {
        std::vector<std::string> wanted;
        for (const auto& reference : references) wanted.push_back(reference[i]);
        bleu.add(translations[i], wanted);
        chrf.add(translations[i], wanted);
    }
    const BleuScore score = bleu.score();
    const double ratio =
        score.reference_words == 0 ? 0 : static_cast<double>(score.words) / static_cast<double>(score.reference_words);
    const std::string end = text("|version:vkformer-", version());
    const std::string bleu_signature = text("nrefs:", references.size(), "|case:mixed|eff:no|tok:13a|smooth:exp", end);
    const std::string chrf_signature = text("nrefs:", references.size(), "|case:mixed|eff:yes|nc:6|nw:0|space:no", end);
    const auto& p = score.precisions;
    if (common.json) {
        return print_json({{"bleu", score.score},
                           {"bleu_signature", bleu_signature},
                           {"precisions", p},
                           {"brevity_penalty", score.brevity},
                           {"words", score.words},
                           {"reference_words", score.reference_words},
                           {"chrf2", chrf.score()},
                           {"chrf2_signature", chrf_signature}});
    }
    print(text("BLEU|", bleu_signature, " = ", fixed(score.score, 2), " ", fixed(p[0], 1), "/", fixed(p[1], 1), "/",
               fixed(p[2], 1), "/", fixed(p[3], 1), " (BP = ", fixed(score.brevity, 3), " ratio = ", fixed(ratio, 3),
               " hyp_len = ", score.words, " ref_len = ", score.reference_words, ")\nchrF2|", chrf_signature, " = ",
               fixed(chrf.score(), 2), "\n"));
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
