#include "models/translation/beam_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/integers.h"

namespace vkf {

BeamSearch::BeamSearch(const BeamOptions& options) : options_(options), beams_(1) {}

double BeamSearch::score(double sum, std::int64_t length) const {
    const auto tokens = static_cast<double>(length);
    const double base = options_.penalty == LengthPenalty::gnmt ? (5 + tokens) / 6 : tokens;
    return sum / std::pow(base, options_.alpha);
}

bool BeamSearch::may_write(std::size_t token) const {
    return std::ranges::find(options_.rules.banned, static_cast<std::int32_t>(token)) == options_.rules.banned.end();
}

/// Logarithm of the sum of e^logit over the vocabulary and the end, or over those of them that may be written.
double BeamSearch::log_sum(std::span<const float> row, bool allowed) const {
    const std::size_t vocabulary = std::min(as_index(options_.vocabulary), row.size()), end = as_index(options_.end);
    const auto counts = [&](std::size_t token) { return !allowed || may_write(token); };
    double top = static_cast<double>(row[end]);
    for (std::size_t token = 0; token < vocabulary; ++token)
        if (counts(token)) top = std::max(top, static_cast<double>(row[token]));
    double sum = end < vocabulary ? 0 : std::exp(static_cast<double>(row[end]) - top);
    for (std::size_t token = 0; token < vocabulary; ++token)
        if (counts(token)) sum += std::exp(static_cast<double>(row[token]) - top);
    return top + std::log(sum);
}

/// The 2·beams best continuations of all open beams, best first.
std::vector<BeamSearch::Candidate> BeamSearch::candidates(std::span<const float> logits) const {
    const auto better = [](const Candidate& a, const Candidate& b) {
        return std::tuple(-a.sum, a.token, a.beam) < std::tuple(-b.sum, b.token, b.beam);
    };
    const std::size_t width = logits.size() / beams_.size(), wanted = as_index(2 * options_.beams);
    const std::size_t vocabulary = std::min(as_index(options_.vocabulary), width), end = as_index(options_.end);
    const bool must_end = options_.rules.forced_end && length_ + 1 >= options_.longest;
    const bool renormalized = options_.rules.renormalized && !options_.rules.banned.empty();
    std::vector<Candidate> best;  // a heap whose front is the worst
    for (std::size_t b = 0; b < beams_.size(); ++b) {
        const auto row = logits.subspan(b * width, width);
        double log_z = log_sum(row, false);
        if (!std::isfinite(log_z)) throw Error("the logits of a next token are not finite");
        if (renormalized) log_z = log_sum(row, true);
        const auto consider = [&](std::size_t token) {
            const double log_probability = must_end ? 0 : static_cast<double>(row[token]) - log_z;
            const Candidate made{beams_[b].sum + log_probability, static_cast<std::int32_t>(token),
                                 static_cast<std::int32_t>(b)};
            if (best.size() == wanted && !better(made, best.front())) return;
            if (best.size() == wanted) {
                std::ranges::pop_heap(best, better);
                best.pop_back();
            }
            best.push_back(made);
            std::ranges::push_heap(best, better);
        };
        for (std::size_t token = 0; token < vocabulary && !must_end; ++token)
            if (may_write(token)) consider(token);
        if (end >= vocabulary || must_end) consider(end);
    }
    std::ranges::sort_heap(best, better);
    return best;
}

void BeamSearch::finish(const Candidate& candidate) {
    Hypothesis made{beams_[as_index(candidate.beam)].tokens, candidate.sum, score(candidate.sum, length_)};
    made.tokens.push_back(candidate.token);
    const auto place =
        std::ranges::upper_bound(finished_, -made.score, {}, [](const Hypothesis& h) { return -h.score; });
    finished_.insert(place, std::move(made));
    if (std::ssize(finished_) > options_.beams) finished_.pop_back();
}

void BeamSearch::advance(std::span<const float> logits) {
    const std::vector<Candidate> found = candidates(logits);
    ++length_;
    const bool last = length_ >= options_.longest;
    std::vector<Beam> next;
    for (std::size_t rank = 0; rank < found.size() && std::ssize(next) < options_.beams; ++rank) {
        const Candidate& candidate = found[rank];
        const bool leading = std::cmp_less(rank, options_.beams);
        if (candidate.token == options_.end || last) {
            if (leading) finish(candidate);
            continue;
        }
        next.push_back({beams_[as_index(candidate.beam)].tokens, candidate.sum, candidate.beam});
        next.back().tokens.push_back(candidate.token);
    }
    beams_ = std::move(next);
    done_ = last || beams_.empty() || (std::ssize(finished_) == options_.beams && !may_improve());
}

/// True if an open beam may still end better than the worst finished hypothesis, by its score at its present length.
bool BeamSearch::may_improve() const {
    if (options_.rules.early_stopping) return false;
    double sum = beams_.front().sum;
    for (const Beam& beam : beams_) sum = std::max(sum, beam.sum);
    return score(sum, length_) > finished_.back().score;
}

std::vector<Hypothesis> BeamSearch::best(std::int64_t count) const {
    const std::size_t number = std::min(finished_.size(), as_index(count));
    return {finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(number)};
}

}  // namespace vkf
