// Beam search: the likeliest sequences of tokens, found by extending a few at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vkf {

/// A finished sequence. Its tokens include the one that ends it, unless the longest length was reached before.
struct Hypothesis {
    std::vector<std::int32_t> tokens;
    double log_probability = 0;  // sum over the tokens
    double score = 0;            // log_probability, normalised by length
};

/// Division of log-probabilities by a function of the length L: power is L^α, as in fairseq and Marian; gnmt is
/// ((5 + L) / 6)^α (Wu et al., "Google's Neural Machine Translation System", 2016, eq. 14).
enum class LengthPenalty : std::uint8_t { power, gnmt };

struct SearchRules {
    /// Tokens that are never written; the end is none of them.
    std::vector<std::int32_t> banned = {};
    bool renormalized = false;   // probabilities of the other tokens sum to 1; else banned ones keep their share
    bool forced_end = false;     // a hypothesis of the longest length ends, for certain
    bool early_stopping = true;  // stop as soon as `beams` hypotheses are finished
};

struct BeamOptions {
    std::int64_t beams = 5;  // 1: the likeliest token each time
    double alpha = 1;
    LengthPenalty penalty = LengthPenalty::power;
    std::int64_t vocabulary = 0;  // tokens below this may be written; a row of logits may be longer
    std::int32_t end = 0;         // may be a token behind the vocabulary
    std::int64_t longest = 1;     // tokens of a hypothesis, with its end
    SearchRules rules = {};
};

/// Search of one source. Each step has one row of logits for every open beam. Of all continuations of open beams, the
/// 2·beams with the greatest sums of log-probabilities are candidates, of equal ones the lower token first, then the
/// lower beam. A candidate that ends is finished if it is among the first `beams` candidates; the first `beams` that do
/// not end stay open. The search stops when `beams` hypotheses are finished, or at the longest length, where open ones
/// count as finished. Without early stopping it goes on while the score that the best open beam has at its present
/// length exceeds that of the worst finished hypothesis, and keeps the best `beams`, as Hugging Face's generate() does.
/// So one beam takes the likeliest token each time.
class BeamSearch {
public:
    explicit BeamSearch(const BeamOptions& options);

    bool done() const { return done_; }
    /// Open beams: at first one, which has no token.
    std::int64_t open() const { return static_cast<std::int64_t>(beams_.size()); }
    /// The last token of open beam `b`, and the beam of the step before that it continues.
    std::int32_t token(std::int64_t b) const { return beams_[static_cast<std::size_t>(b)].tokens.back(); }
    std::int32_t parent(std::int64_t b) const { return beams_[static_cast<std::size_t>(b)].parent; }
    /// Tokens of every open beam so far.
    std::int64_t length() const { return length_; }

    /// Extends the open beams. Row b of `logits` is those of the next token of open beam b; all rows have equal width.
    /// Throws: Error if a logit that counts is not a number.
    void advance(std::span<const float> logits);

    /// The best hypotheses, best first, at most `count`.
    std::vector<Hypothesis> best(std::int64_t count) const;

private:
    struct Beam {
        std::vector<std::int32_t> tokens;
        double sum = 0;
        std::int32_t parent = 0;
    };
    struct Candidate {
        double sum;
        std::int32_t token, beam;
    };

    double score(double sum, std::int64_t length) const;
    bool may_write(std::size_t token) const;
    double log_sum(std::span<const float> row, bool allowed) const;
    bool may_improve() const;
    std::vector<Candidate> candidates(std::span<const float> logits) const;
    void finish(const Candidate& candidate);

    BeamOptions options_;
    std::vector<Beam> beams_;
    std::vector<Hypothesis> finished_;  // best first
    std::int64_t length_ = 0;
    bool done_ = false;
};

}  // namespace vkf
