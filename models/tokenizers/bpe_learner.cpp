#include "models/tokenizers/bpe_learner.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/utf8.h"
#include "models/tokenizers/byte_level.h"
#include "models/tokenizers/byte_level_model.h"

namespace vkf {
namespace {

constexpr std::int64_t OFTEN = 2;  // a pair that comes but once says nothing about other texts

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

// Words as tokens, and of each pair of neighbours how often it comes and where.
class PairCounts {
public:
    struct Candidate {
        std::int64_t count;
        std::uint64_t pair;
        /// Less is worse: of equal counts the higher pair.
        bool operator<(const Candidate& other) const {
            return count != other.count ? count < other.count : pair > other.pair;
        }
    };

    void add_word(Tokens tokens, std::int64_t count) {
        words_.push_back({std::move(tokens), count});
        count_pairs(words_.size() - 1, count, NO_TOKEN);
    }
    /// To be called when all words are there.
    void begin() { consider(); }

    /// The best pair; its count is below `least` if there is none that comes so often.
    Candidate best(std::int64_t least) {
        while (!heap_.empty() && heap_.front().count >= least) {
            const Candidate top = heap_.front();
            const std::int64_t count = pairs_[top.pair].count;
            if (count == top.count) return top;
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.pop_back();
            if (count >= least && count < top.count) push({count, top.pair});
        }
        return {0, 0};
    }

    /// Joins a pair wherever it stands, from left to right.
    void join(std::uint64_t pair, std::int32_t token) {
        std::vector<std::size_t> places = std::move(pairs_[pair].words);
        std::ranges::sort(places);
        places.erase(std::ranges::unique(places).begin(), places.end());
        for (const std::size_t place : places) {
            Word& word = words_[place];
            count_pairs(place, -word.count, token);
            std::size_t to = 0;
            for (std::size_t from = 0; from < word.tokens.size(); ++to) {
                const bool here =
                    from + 1 < word.tokens.size() && pair_of(word.tokens[from], word.tokens[from + 1]) == pair;
                word.tokens[to] = here ? token : word.tokens[from];
                from += here ? 2 : 1;
            }
            word.tokens.resize(to);
            count_pairs(place, word.count, token);
        }
        consider();
    }

private:
    struct Word {
        Tokens tokens;
        std::int64_t count;
    };
    struct Pair {
        std::int64_t count = 0;
        std::vector<std::size_t> words;  // with it; some may have lost it since
    };

    // Adds `count` for every pair of a word. New in it can be those with token `fresh`, or all of them.
    void count_pairs(std::size_t place, std::int64_t count, std::int32_t fresh) {
        const Tokens& tokens = words_[place].tokens;
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            const std::uint64_t key = pair_of(tokens[i], tokens[i + 1]);
            Pair& pair = pairs_[key];
            pair.count += count;
            const bool old = fresh != NO_TOKEN && tokens[i] != fresh && tokens[i + 1] != fresh;
            if (count < 0 || old) continue;
            if (pair.words.empty() || pair.words.back() != place) pair.words.push_back(place);
            fresh_.push_back(key);
        }
    }

    // Pairs whose count may have grown become candidates.
    void consider() {
        std::ranges::sort(fresh_);
        fresh_.erase(std::ranges::unique(fresh_).begin(), fresh_.end());
        for (const std::uint64_t pair : fresh_) push({pairs_[pair].count, pair});
        fresh_.clear();
    }

    void push(Candidate candidate) {
        heap_.push_back(candidate);
        std::push_heap(heap_.begin(), heap_.end());
    }

    std::vector<Word> words_;
    std::unordered_map<std::uint64_t, Pair> pairs_;
    std::vector<Candidate> heap_;  // counts as they were; too high ones are put right when they come up
    std::vector<std::uint64_t> fresh_;
};

}  // namespace

BpeLearner::BpeLearner() : splits_{{Pattern(GPT2_PATTERN, "GPT-2's pattern")}}, pre_tokenizer_(splits_) {}

void BpeLearner::add(std::string_view text) {
    const auto wrong = invalid_utf8(text);
    require(!wrong, "text is not UTF-8 at byte ", wrong.value_or(0));
    pre_tokenizer_.cut(text, false, [&](std::string_view word) { ++words_[std::string(word)]; });
}

BpeModel BpeLearner::learn(std::size_t size) const {
    constexpr std::size_t smallest = 256 + 1;
    require(size >= smallest, "a vocabulary of ", size, " tokens, wanted ", smallest, " or more: all bytes and ",
            END_OF_TEXT);
    BpeModel model;
    model.splits = splits_;
    std::unordered_map<std::string, std::int32_t> token_of;
    const auto add_token = [&](const std::string& bytes) {
        const auto [entry, added] = token_of.try_emplace(bytes, static_cast<std::int32_t>(model.tokens.size()));
        if (added) model.tokens.push_back(bytes);
        return entry->second;  // of several ways to join the same bytes, the first makes the token
    };
    for (const unsigned char byte : bytes_in_character_order()) {
        model.byte_tokens[byte] = add_token(std::string(1, static_cast<char>(byte)));
    }
    PairCounts pairs;
    for (const auto& [word, count] : words_) {
        Tokens tokens;
        for (const char byte : word) tokens.push_back(model.byte_tokens[static_cast<unsigned char>(byte)]);
        pairs.add_word(std::move(tokens), count);
    }
    pairs.begin();
    std::unordered_set<std::uint64_t> joined;
    while (model.tokens.size() + 1 < size) {
        const PairCounts::Candidate best = pairs.best(OFTEN);
        require(best.count >= OFTEN, "a vocabulary of ", size, " tokens is wanted, but these texts have pairs for ",
                model.tokens.size() + 1, " at most");
        const auto left = static_cast<std::int32_t>(best.pair >> 32), right = static_cast<std::int32_t>(best.pair);
        const std::string bytes =
            model.tokens[static_cast<std::size_t>(left)] + model.tokens[static_cast<std::size_t>(right)];
        const std::int32_t token = add_token(bytes);
        // A token made in a second way can bring back a pair, which keeps the rank that it has.
        if (joined.insert(best.pair).second) model.merges.push_back({left, right, token});
        pairs.join(best.pair, token);
    }
    const auto end = static_cast<std::int32_t>(model.tokens.size());
    model.tokens.emplace_back(END_OF_TEXT);
    model.hidden.push_back(end);
    model.added.push_back({std::string(END_OF_TEXT), end});
    model.end_of_text = end;
    return model;
}

}  // namespace vkf
