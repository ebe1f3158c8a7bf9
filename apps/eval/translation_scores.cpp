#include "apps/eval/translation_scores.h"

#include "apps/cli/common.h"
#include "apps/cli/version.h"
#include "base/error.h"

namespace vkf {

void TranslationScores::add(std::string_view translation, const std::vector<std::string>& references) {
    bleu_.add(translation, references);
    chrf_.add(translation, references);
}

std::string TranslationScores::bleu_signature() const {
    return text("nrefs:", references_, "|case:mixed|eff:no|tok:13a|smooth:exp|version:vkformer-", version());
}

std::string TranslationScores::chrf_signature() const {
    return text("nrefs:", references_, "|case:mixed|eff:yes|nc:6|nw:0|space:no|version:vkformer-", version());
}

nlohmann::ordered_json TranslationScores::document() const {
    const BleuScore score = bleu_.score();
    return {{"bleu", score.score},
            {"bleu_signature", bleu_signature()},
            {"precisions", score.precisions},
            {"brevity_penalty", score.brevity},
            {"words", score.words},
            {"reference_words", score.reference_words},
            {"chrf2", chrf_.score()},
            {"chrf2_signature", chrf_signature()}};
}

std::string TranslationScores::lines() const {
    const BleuScore score = bleu_.score();
    const double ratio =
        score.reference_words == 0 ? 0 : static_cast<double>(score.words) / static_cast<double>(score.reference_words);
    const auto& p = score.precisions;
    return text("BLEU|", bleu_signature(), " = ", fixed(score.score, 2), " ", fixed(p[0], 1), "/", fixed(p[1], 1), "/",
                fixed(p[2], 1), "/", fixed(p[3], 1), " (BP = ", fixed(score.brevity, 3), " ratio = ", fixed(ratio, 3),
                " hyp_len = ", score.words, " ref_len = ", score.reference_words, ")\nchrF2|", chrf_signature(), " = ",
                fixed(chrf_.score(), 2), "\n");
}

}  // namespace vkf
