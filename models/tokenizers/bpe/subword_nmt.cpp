#include "models/tokenizers/bpe/subword_nmt.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "models/tokenizers/bpe/word_cache.h"

namespace vkf {
namespace {

constexpr std::array<std::string_view, 4> SPECIAL{"<s>", "<pad>", "</s>", "<unk>"};
constexpr std::int32_t BEGIN = 0, END = 2, UNKNOWN = 3;
constexpr std::array<std::int32_t, 4> SPECIAL_TOKENS{0, 1, 2, 3};
constexpr std::string_view WORD_END = "</w>", SPACES = " \n\r";

// Number of </w> while the codes are read, because the number of tokens is not known yet.
constexpr std::int32_t MARK = std::numeric_limits<std::int32_t>::max();

std::vector<AddedToken> special_tokens() {
    std::vector<AddedToken> tokens;
    for (const std::int32_t token : SPECIAL_TOKENS)
        tokens.push_back({std::string(SPECIAL[static_cast<std::size_t>(token)]), token});
    return tokens;
}

std::string in_quotes(std::string_view symbol) {
    return one_line(nlohmann::json(symbol));
}

// Reads the lines of a codes file.
class CodesReader {
public:
    explicit CodesReader(std::string file) : file_(std::move(file)) {
        codes_.tokens.assign(SPECIAL.begin(), SPECIAL.end());
    }

    SubwordCodes read(std::string_view content) {
        while (!content.empty()) {
            std::string_view line = content.substr(0, content.find('\n'));
            content.remove_prefix(std::min(content.size(), line.size() + 1));
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (++line_ == 1 && line.starts_with("#version:")) {
                read_version(line);
            } else {
                read_merge(line);
            }
        }
        require(!codes_.merges.empty(), file_, ": has no merges, wanted a line with two symbols for each");
        if (!marked_) return finish({});
        return finish(static_cast<std::int32_t>(codes_.tokens.size()));
    }

private:
    SubwordCodes finish(std::optional<std::int32_t> word_end) {
        for (Merge& merge : codes_.merges)
            if (merge.right == MARK) merge.right = *word_end;
        codes_.word_end = word_end;
        return std::move(codes_);
    }

    std::string where() const { return text(file_, ": line ", line_); }

    void read_version(std::string_view line) {
        const bool known = line == "#version: 0.1" || line == "#version: 0.2";
        if (!known) throw InputError(where(), ": found ", in_quotes(line), ", wanted version 0.1 or 0.2");
        marked_ = line.ends_with('1');
    }

    void read_merge(std::string_view line) {
        if (invalid_utf8(line)) throw InputError(where(), ": is not UTF-8");
        const std::size_t space = line.find(' ');
        const bool two = space != line.npos && space > 0 && space + 1 < line.size() && line.rfind(' ') == space;
        if (!two) throw InputError(where(), ": found ", in_quotes(line), ", wanted two symbols with a space between");
        const std::string_view left = line.substr(0, space), right = line.substr(space + 1);
        const auto complain = [&](const auto&... words) {
            throw InputError(where(), " merges ", in_quotes(left), " and ", in_quotes(right), words...);
        };
        if (left.ends_with(WORD_END)) complain(", but no symbol follows ", in_quotes(left), ", which ends words");
        const auto token = [&](std::string_view symbol) {
            const auto found = part(symbol);
            if (!found) complain(", but ", in_quotes(symbol), " is no character and no result of an earlier line");
            return found.value_or(0);
        };
        const std::int32_t left_token = token(left), right_token = token(right);
        const auto add_result = [&] {
            std::string result = codes_.tokens[static_cast<std::size_t>(left_token)];
            result += right_token == MARK ? " " : codes_.tokens[static_cast<std::size_t>(right_token)];
            results_.insert(result);
            return add(result);
        };
        if (!pairs_.insert(pair_of(left_token, right_token)).second) complain(" a second time");
        codes_.merges.push_back({left_token, right_token, add_result()});
    }

    // Token of a merge's part; nothing if no word has such a symbol.
    std::optional<std::int32_t> part(std::string_view symbol) {
        if (marked_ && symbol == WORD_END) return MARK;
        const bool ends = symbol.ends_with(WORD_END);
        if (ends) symbol.remove_suffix(WORD_END.size());
        const bool character = !symbol.empty() && decode_utf8(symbol, 0).bytes == symbol.size() && !(marked_ && ends);
        const std::string bytes = std::string(symbol) + (ends ? " " : "");
        if (!character && !results_.contains(bytes)) return {};
        if (character) add_both(std::string(symbol));
        return add(bytes);
    }

    std::int32_t add(const std::string& bytes) {
        if (marked_) add_both(bytes.ends_with(' ') ? bytes.substr(0, bytes.size() - 1) : bytes);
        return add_one(bytes);
    }

    void add_both(const std::string& symbol) {
        add_one(symbol);
        add_one(symbol + " ");
    }

    std::int32_t add_one(const std::string& bytes) {
        const auto next = static_cast<std::int32_t>(codes_.tokens.size());
        const auto [entry, added] = token_of_.try_emplace(bytes, next);
        if (added) codes_.tokens.push_back(bytes);
        return entry->second;
    }

    std::string file_;
    std::size_t line_ = 0;
    bool marked_ = true;  // version 0.1: the end of a word is a symbol
    SubwordCodes codes_;
    std::unordered_map<std::string, std::int32_t> token_of_;
    std::unordered_set<std::string> results_;
    std::unordered_set<std::uint64_t> pairs_;
};

}  // namespace

SubwordCodes SubwordCodes::read(const std::filesystem::path& path) {
    return CodesReader(path.string()).read(read_small_text(path, VOCABULARY_LIMIT));
}

// Encodes texts with a tokenizer's tables and memory of its own.
class SubwordEncoder final : public TextEncoder {
public:
    explicit SubwordEncoder(const SubwordNmt& tokenizer) : tokenizer_(tokenizer) {}

    void feed(std::string_view text, Tokens& tokens) override {
        for (;;) {
            const std::size_t end = text.find_first_of(SPACES);
            pending_ += text.substr(0, end);
            if (end == text.npos) return;
            finish(tokens);
            text.remove_prefix(end + 1);
        }
    }

    void finish(Tokens& tokens) override {
        if (!pending_.empty()) encode(pending_, tokens);
        pending_.clear();
    }

private:
    void encode(std::string_view word, Tokens& tokens) {
        auto known = cache_.find(word);
        if (known.empty()) {
            word_.clear();
            tokenizer_.initial_symbols(word, word_);
            merger_.merge(tokenizer_.merges_, word_, MergeOrder::rounds);
            tokenizer_.end_word(word_);
            cache_.insert(word, word_);
            known = word_;
        }
        tokens.insert(tokens.end(), known.begin(), known.end());
    }

    const SubwordNmt& tokenizer_;
    Merger merger_;
    WordCache cache_;
    std::string pending_;  // a word that may continue
    Tokens word_;
};

SubwordNmt::SubwordNmt(SubwordCodes codes)
    : Tokenizer({special_tokens(), {.begin = BEGIN, .end = END, .closing = {}}}),
      vocabulary_(std::move(codes.tokens), SPECIAL_TOKENS),
      merges_(codes.merges),
      word_end_(codes.word_end) {}

std::string SubwordNmt::bytes(std::int32_t token) const {
    return vocabulary_[index_of(token)];
}

std::unique_ptr<TextEncoder> SubwordNmt::text_encoder() const {
    return std::make_unique<SubwordEncoder>(*this);
}

void SubwordNmt::initial_symbols(std::string_view word, Tokens& symbols) const {
    for (std::size_t at = 0, bytes = 0; at < word.size(); at += bytes) {
        bytes = decode_utf8(word, at).bytes;
        std::string symbol(word.substr(at, bytes));
        if (!word_end_ && at + bytes == word.size()) symbol += ' ';
        symbols.push_back(vocabulary_.find(symbol).value_or(UNKNOWN));
    }
    if (word_end_) symbols.push_back(*word_end_);
}

void SubwordNmt::end_word(Tokens& symbols) const {
    if (!word_end_ || symbols.back() != *word_end_) return;
    symbols.pop_back();
    std::int32_t& last = symbols.back();
    if (last != UNKNOWN) last = *vocabulary_.find(vocabulary_[static_cast<std::size_t>(last)] + " ");
}

}  // namespace vkf
