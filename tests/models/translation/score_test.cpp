// BLEU and chrF2 against sacrebleu's numbers (tests/golden/make_scores.py).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "golden.h"
#include "models/translation/bleu.h"
#include "models/translation/chrf.h"
#include "models/translation/words.h"

namespace vkf::test {
namespace {

using Lines = std::vector<std::string>;

// References of one line, of which the file has a list per reference.
Lines references_of(const nlohmann::json& set, std::size_t line) {
    Lines made;
    for (const auto& reference : set["references"]) made.push_back(reference[line]);
    return made;
}

class HostTranslationScore : public testing::TestWithParam<std::string> {
protected:
    const nlohmann::json set_ = read_json(golden / "scores.json").at(GetParam());
    const Lines translations_ = set_["translations"];
};

// Both sides compute in double, from the same integers, in other orders.
constexpr double tolerance = 1e-12;

TEST_P(HostTranslationScore, BleuEqualsThatOfSacrebleu) {
    Bleu bleu;
    for (std::size_t i = 0; i < translations_.size(); ++i) bleu.add(translations_[i], references_of(set_, i));
    const BleuScore score = bleu.score();
    EXPECT_EQ(score.words, set_["words"].get<std::int64_t>());
    EXPECT_EQ(score.reference_words, set_["reference_words"].get<std::int64_t>());
    EXPECT_NEAR(score.brevity, set_["brevity"].get<double>(), tolerance);
    EXPECT_NEAR(score.score, set_["bleu"].get<double>(), 100 * tolerance);
    for (std::size_t i = 0; i < BLEU_ORDERS; ++i)
        EXPECT_NEAR(score.precisions[i], set_["precisions"][i].get<double>(), 100 * tolerance) << i;
}

TEST_P(HostTranslationScore, ChrFEqualsThatOfSacrebleu) {
    ChrF chrf;
    for (std::size_t i = 0; i < translations_.size(); ++i) chrf.add(translations_[i], references_of(set_, i));
    EXPECT_NEAR(chrf.score(), set_["chrf2"].get<double>(), 100 * tolerance);
}

TEST_P(HostTranslationScore, WordsAreThoseOf13a) {
    for (std::size_t i = 0; i < translations_.size(); ++i) {
        std::string words;
        for (const std::string& word : words_13a(translations_[i])) words.append(words.empty() ? "" : " ").append(word);
        EXPECT_EQ(words, set_["words_13a"][i].get<std::string>()) << translations_[i];
    }
}

INSTANTIATE_TEST_SUITE_P(Sacrebleu, HostTranslationScore,
                         testing::Values("one reference", "three references", "short lines", "few shared",
                                         "nothing shared", "shorter", "no words", "no references", "three words"),
                         [](const auto& of) {
                             std::string name = of.param;
                             for (char& c : name) c = c == ' ' ? '_' : c;
                             return name;
                         });

}  // namespace
}  // namespace vkf::test
