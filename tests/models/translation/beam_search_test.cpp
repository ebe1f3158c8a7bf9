// Beam search against exhaustive search, and its rules.

#include "models/translation/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace vkf::test {
namespace {

constexpr std::int32_t END = 2;
constexpr std::int64_t VOCABULARY = 5, LONGEST = 4;

/// Logits of the token after these: a fixed function of the tokens.
std::vector<float> logits_after(std::span<const std::int32_t> tokens, std::uint64_t seed) {
    std::uint64_t number = 1;
    for (const std::int32_t token : tokens) number = number * 31 + static_cast<std::uint64_t>(token) + 7;
    Random random(seed, "logits", number);
    std::vector<float> logits(VOCABULARY);
    for (float& logit : logits) logit = static_cast<float>(1.5 * random.normal());
    return logits;
}

double log_probability(const std::vector<float>& logits, std::int32_t token) {
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    return static_cast<double>(logits[static_cast<std::size_t>(token)]) - std::log(sum);
}

/// Runs a search whose beams follow `logits_after`; returns its hypotheses.
std::vector<Hypothesis> searched(const BeamOptions& options, std::uint64_t seed) {
    BeamSearch search(options);
    std::vector<std::vector<std::int32_t>> beams{{}};
    while (!search.done()) {
        std::vector<float> logits;
        for (const auto& beam : beams) {
            const std::vector<float> row = logits_after(beam, seed);
            logits.insert(logits.end(), row.begin(), row.end());
        }
        search.advance(logits);
        std::vector<std::vector<std::int32_t>> next;
        for (std::int64_t b = 0; b < search.open(); ++b) {
            next.push_back(beams[static_cast<std::size_t>(search.parent(b))]);
            next.back().push_back(search.token(b));
        }
        beams = next;
    }
    return search.best(options.beams);
}

BeamOptions options_of(std::int64_t beams, double alpha = 1) {
    return {.beams = beams, .alpha = alpha, .vocabulary = VOCABULARY, .end = END, .longest = LONGEST};
}

/// Score of the best of all sequences that end, or are as long as possible.
Hypothesis best_of_all(std::uint64_t seed, double alpha) {
    Hypothesis best{.score = -std::numeric_limits<double>::infinity()};
    const std::function<void(std::vector<std::int32_t>, double)> extend = [&](std::vector<std::int32_t> tokens,
                                                                              double sum) {
        const std::vector<float> logits = logits_after(tokens, seed);
        for (std::int32_t token = 0; token < VOCABULARY; ++token) {
            std::vector<std::int32_t> longer = tokens;
            longer.push_back(token);
            const double total = sum + log_probability(logits, token);
            if (token != END && std::ssize(longer) < LONGEST) {
                extend(longer, total);
                continue;
            }
            const double score = total / std::pow(static_cast<double>(longer.size()), alpha);
            if (score > best.score) best = {longer, total, score};
        }
    };
    extend({}, 0);
    return best;
}

/// With as many beams as there are sequences nothing is lost, so the best is that of an exhaustive search.
TEST(HostBeamSearch, ManyBeamsFindTheBestOfAllSequences) {
    for (const double alpha : {0.0, 0.6, 1.0})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Hypothesis found = searched(options_of(125, alpha), seed).front(), best = best_of_all(seed, alpha);
            EXPECT_EQ(found.tokens, best.tokens) << "seed " << seed << ", alpha " << alpha;
            EXPECT_NEAR(found.score, best.score, 1e-12);
            EXPECT_NEAR(found.log_probability, best.log_probability, 1e-12);
        }
}

TEST(HostBeamSearch, OneBeamTakesTheLikeliestTokenEachTime) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::vector<std::int32_t> greedy;
        while (std::ssize(greedy) < LONGEST && (greedy.empty() || greedy.back() != END)) {
            const std::vector<float> logits = logits_after(greedy, seed);
            greedy.push_back(static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin()));
        }
        for (const bool early_stopping : {true, false}) {
            BeamOptions options = options_of(1);
            options.rules.early_stopping = early_stopping;
            EXPECT_EQ(searched(options, seed).front().tokens, greedy) << "seed " << seed;
        }
    }
}

TEST(HostBeamSearch, HypothesesAreOrderedAndDifferent) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<Hypothesis> found = searched(options_of(5), seed);
        ASSERT_EQ(found.size(), 5u);
        for (std::size_t i = 0; i < found.size(); ++i) {
            double sum = 0;
            for (std::size_t t = 0; t < found[i].tokens.size(); ++t)
                sum += log_probability(logits_after(std::span(found[i].tokens).first(t), seed), found[i].tokens[t]);
            EXPECT_NEAR(found[i].log_probability, sum, 1e-12);
            EXPECT_NEAR(found[i].score, sum / static_cast<double>(found[i].tokens.size()), 1e-12);
            for (std::size_t j = 0; j < i; ++j) {
                EXPECT_NE(found[i].tokens, found[j].tokens);
                EXPECT_GE(found[j].score, found[i].score);
            }
        }
    }
}

TEST(HostBeamSearch, OfEqualCandidatesTheLowerTokenComesFirst) {
    BeamOptions options = options_of(2);
    options.vocabulary = 4;
    BeamSearch search(options);
    search.advance(std::vector<float>{1, 1, -9, 1});
    ASSERT_EQ(search.open(), 2);
    EXPECT_EQ(search.token(0), 0);
    EXPECT_EQ(search.token(1), 1);
    search.advance(std::vector<float>{0, 0, -9, 0, 0, 0, -9, 0});
    EXPECT_EQ(search.token(0), 0);
    EXPECT_EQ(search.parent(0), 0);
    EXPECT_EQ(search.token(1), 0);
    EXPECT_EQ(search.parent(1), 1);
}

TEST(HostBeamSearch, GnmtPenaltyDividesByItsFormula) {
    BeamOptions options = options_of(1, 0.7);
    options.penalty = LengthPenalty::gnmt;
    const Hypothesis found = searched(options, 3).front();
    const double length = static_cast<double>(found.tokens.size());
    EXPECT_NEAR(found.score, found.log_probability / std::pow((5 + length) / 6, 0.7), 1e-12);
}

TEST(HostBeamSearch, TokensBehindTheVocabularyAreNotWritten) {
    BeamOptions options = options_of(2);
    options.vocabulary = 2;  // of 5, and the end is token 2
    BeamSearch search(options);
    search.advance(std::vector<float>{0, -1, -2, 9, 9});
    ASSERT_EQ(search.open(), 2);
    EXPECT_EQ(search.token(0), 0);
    EXPECT_EQ(search.token(1), 1);
}

TEST(HostBeamSearch, BannedTokensAreNotWritten) {
    constexpr std::int32_t banned = 1;
    for (const bool renormalized : {false, true})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            BeamOptions options = options_of(4);
            options.rules.banned = {banned};
            options.rules.renormalized = renormalized;
            for (const Hypothesis& found : searched(options, seed)) {
                EXPECT_EQ(std::ranges::count(found.tokens, banned), 0);
                double sum = 0;
                for (std::size_t t = 0; t < found.tokens.size(); ++t) {
                    const std::vector<float> logits = logits_after(std::span(found.tokens).first(t), seed);
                    const double others = 1 - std::exp(log_probability(logits, banned));
                    sum += log_probability(logits, found.tokens[t]) - (renormalized ? std::log(others) : 0);
                }
                EXPECT_NEAR(found.log_probability, sum, 1e-9);
            }
        }
}

TEST(HostBeamSearch, AForcedEndIsCertain) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        BeamOptions options = options_of(4);
        options.rules.forced_end = true;
        for (const Hypothesis& found : searched(options, seed)) {
            ASSERT_EQ(found.tokens.back(), END);
            double sum = 0;
            for (std::size_t t = 0; t < std::min<std::size_t>(found.tokens.size(), LONGEST - 1); ++t)
                sum += log_probability(logits_after(std::span(found.tokens).first(t), seed), found.tokens[t]);
            EXPECT_NEAR(found.log_probability, sum, 1e-12);
        }
    }
}

/// Beam search without early stopping, in the plainest way: every continuation is listed and sorted.
std::vector<Hypothesis> patient_search(const BeamOptions& options, std::uint64_t seed) {
    const auto beams = static_cast<std::size_t>(options.beams);
    std::vector<Hypothesis> open{{}}, finished;
    for (std::int64_t length = 1; length <= options.longest; ++length) {
        const double divisor = std::pow(static_cast<double>(length), options.alpha);
        std::vector<Hypothesis> all;
        for (const Hypothesis& beam : open)
            for (std::int32_t token = 0; token < VOCABULARY; ++token) {
                Hypothesis longer = beam;
                longer.log_probability += log_probability(logits_after(beam.tokens, seed), token);
                longer.score = longer.log_probability / divisor;
                longer.tokens.push_back(token);
                all.push_back(longer);
            }
        std::ranges::sort(all, std::greater(), &Hypothesis::log_probability);
        open.clear();
        for (std::size_t rank = 0; rank < std::min(all.size(), 2 * beams); ++rank) {
            const bool ends = all[rank].tokens.back() == END || length == options.longest;
            if (ends && rank < beams) finished.push_back(all[rank]);
            if (!ends && open.size() < beams) open.push_back(all[rank]);
        }
        std::ranges::sort(finished, std::greater(), &Hypothesis::score);
        if (finished.size() > beams) finished.resize(beams);
        if (open.empty() || (finished.size() == beams && open.front().score <= finished.back().score)) break;
    }
    return finished;
}

TEST(HostBeamSearch, WithoutEarlyStoppingItGoesOnWhileABeamMayEndBetter) {
    std::size_t different = 0;
    for (const double alpha : {0.6, 1.0, 2.0})
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            BeamOptions options = options_of(2, alpha);
            options.longest = 8;
            const std::vector<Hypothesis> early = searched(options, seed);
            options.rules.early_stopping = false;
            const std::vector<Hypothesis> found = searched(options, seed), wanted = patient_search(options, seed);
            ASSERT_EQ(found.size(), wanted.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                EXPECT_EQ(found[i].tokens, wanted[i].tokens) << "seed " << seed << ", alpha " << alpha;
                EXPECT_GE(found[i].score, early[i].score - 1e-12);
                different += found[i].tokens != early[i].tokens;
            }
        }
    EXPECT_GT(different, 20u);
}

TEST(HostBeamSearch, LogitsThatAreNotNumbersAreAnError) {
    BeamSearch search(options_of(1));
    EXPECT_THROW(search.advance(std::vector<float>(5, std::numeric_limits<float>::quiet_NaN())), Error);
}

}  // namespace
}  // namespace vkf::test
