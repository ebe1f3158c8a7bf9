#include "models/tokenizers/bpe/bpe_learner.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/text/utf8.h"
#include "models/tokenizers/bpe/byte_level.h"
#include "models/tokenizers/bpe/byte_level_model.h"
#include "models/tokenizers/bpe/merges.h"
#include "models/tokenizers/encoder.h"

namespace vkf {
namespace {

constexpr std::int64_t OFTEN = 2;  // a pair that occurs only once says nothing about other texts

// Words as tokens; for each pair of neighbours, its count and the words that have it.
class PairCounts {
public:
    struct Candidate {
        std::int64_t count;
        std::uint64_t pair;
        /// Less is worse: of equal counts the higher pair is worse.
        bool operator<(const Candidate& other) const {
            return count != other.count ? count < other.count : pair > other.pair;
        }
    };

    void add_word(Tokens tokens, std::int64_t count) {
        words_.push_back({std::move(tokens), count});
        count_pairs(words_.size() - 1, count, NO_TOKEN);
    }
    /// To be called when all words are added.
    void begin() { consider(); }

    /// The best pair; its count is below `least` if no pair occurs that often.
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

    /// Joins a pair everywhere, from left to right.
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
        std::vector<std::size_t> words;  // words with the pair; some may have lost it since
    };

    // Adds `count` to every pair of a word. New in the word can be those with token `fresh`, or all if it is NO_TOKEN.
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

    // Makes candidates of the pairs whose count may have grown.
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
    std::vector<Candidate> heap_;  // with earlier counts; too high ones are corrected when they come up
    std::vector<std::uint64_t> fresh_;
};

// Names must differ, because the files name tokens by them.
void add_special(BpeModel& model, std::span<const std::string> special) {
    std::unordered_set<std::string> names;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < model.tokens.size(); ++token)
        names.insert(token_name(model, token));
    for (const std::string& name : special) {
        require(!name.empty(), "a special token is empty, wanted its name");
        require(names.insert(name).second, "special token ", name, ": another token has this name, wanted a new one");
        const auto token = static_cast<std::int32_t>(model.tokens.size());
        model.tokens.push_back(name);
        model.hidden.push_back(token);
        model.added.push_back({name, token});
    }
    if (!model.added.empty()) model.bounds.end = model.added.front().token;
}

}  // namespace

const std::vector<std::string> BpeLearner::ENDS_TEXTS{std::string(END_OF_TEXT)};

BpeLearner::BpeLearner()
    : splits_{{Pattern(GPT2_PATTERN, "GPT-2's pattern")}}, pre_tokenizer_(splits_), wanted_(ENCODED_AT_ONCE) {}

void BpeLearner::feed(std::string_view text) {
    const auto wrong = invalid_utf8(text);
    require(!wrong, "text is not UTF-8 at byte ", wrong.value_or(0));
    pending_ += text;
    if (pending_.size() >= wanted_) cut(true);
}

void BpeLearner::finish() {
    cut(false);
}

void BpeLearner::cut(bool more) {
    const std::size_t cut = pre_tokenizer_.cut(pending_, more, [&](std::string_view word) {
        const auto known = words_.find(word);
        if (known == words_.end())
            words_.emplace(word, 1);
        else
            ++known->second;
    });
    pending_.erase(0, cut);
    // A word that does not end is searched again only when it is twice as long.
    wanted_ = std::max(ENCODED_AT_ONCE, 2 * pending_.size());
}

BpeModel BpeLearner::learn(std::size_t size, std::span<const std::string> special,
                           const std::function<void(std::size_t)>& watch) const {
    const std::size_t smallest = 256 + special.size();
    require(size >= smallest, "a vocabulary of ", size, " tokens, wanted ", smallest, " or more: all bytes and ",
            special.size() == 1 ? special.front() : text(special.size(), " special tokens"));
    BpeModel model;
    model.splits = splits_;
    std::unordered_map<std::string, std::int32_t> token_of;
    const auto add_token = [&](const std::string& bytes) {
        const auto [entry, added] = token_of.try_emplace(bytes, static_cast<std::int32_t>(model.tokens.size()));
        if (added) model.tokens.push_back(bytes);
        return entry->second;  // if several joins give the same bytes, the first makes the token
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
    while (model.tokens.size() + special.size() < size) {
        const PairCounts::Candidate best = pairs.best(OFTEN);
        require(best.count >= OFTEN, "a vocabulary of ", size, " tokens is wanted, but these texts have pairs for ",
                model.tokens.size() + special.size(), " at most");
        const auto left = static_cast<std::int32_t>(best.pair >> 32), right = static_cast<std::int32_t>(best.pair);
        const std::string bytes =
            model.tokens[static_cast<std::size_t>(left)] + model.tokens[static_cast<std::size_t>(right)];
        const std::int32_t token = add_token(bytes);
        // A token made in a second way can bring back a pair, which keeps its rank.
        if (joined.insert(best.pair).second) model.merges.push_back({left, right, token});
        pairs.join(best.pair, token);
        if (watch) watch(model.tokens.size());
    }
    add_special(model, special);
    return model;
}

}  // namespace vkf
