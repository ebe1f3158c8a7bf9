#include "models/tokenizers/sentencepiece/sentencepiece.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "models/tokenizers/bpe/word_cache.h"
#include "models/tokenizers/encoder.h"
#include "models/tokenizers/sentencepiece/model_proto.h"
#include "models/tokenizers/sentencepiece/processor_calls.h"
#include "models/tokenizers/vocabulary.h"

namespace vkf {
namespace {

using sentencepiece::SentencePieceProcessor;

/// Throws if the model has a precompiled_charsmap, a table of offsets by which it rewrites texts, which the library
/// would follow without checking its bounds. Returns false if the bytes are no message.
bool check_normalizers(std::string_view model, const std::string& file) {
    const std::optional<ModelProto> proto = ModelProto::read(model);
    if (!proto) return false;
    for (const NormalizerSpec* spec : {&proto->normalizer, &proto->denormalizer})
        require(spec->rules == 0, file, ": the model rewrites texts by the rules ",
                one_line(nlohmann::json(spec->name)), " (a precompiled_charsmap of ", spec->rules,
                " bytes), wanted one that leaves texts as they are");
    return true;
}

// Encodes a text and returns it as a text again; parts without a piece stay as they were.
std::string through(const SentencePieceProcessor& processor, std::string_view text) {
    std::vector<std::string> pieces;
    encode_pieces(processor, text, &pieces);
    std::string result;
    for (const std::string& piece : pieces) result += bytes_of(processor, piece);
    return result;
}

// True if a space is put before texts. Throws if texts are changed in any other way.
bool adds_space(const SentencePieceProcessor& processor, const std::string& file) {
    const bool prepends = through(processor, "a") == " a";
    for (const char* probe : {"a", " a", "a  b ", "\ufb01 \u2460 \uff21", "\u00a0x\u3000\ty\n\nz", "e\u0301 \u00e9"}) {
        const std::string wanted = (prepends ? " " : "") + std::string(probe), found = through(processor, probe);
        require(found == wanted, file, ": the model turns ", one_line(nlohmann::json(probe)), " into ",
                one_line(nlohmann::json(found)), ", wanted one that leaves texts as they are");
    }
    return prepends;
}

// Adds to the added tokens: pieces that the settings name, and tokens whose numbers follow those of the pieces.
void add_settings(const TokenSettings& settings, const SentencePieceProcessor& processor,
                  std::vector<AddedToken>& tokens, std::vector<std::string>& bytes) {
    const auto listed = [&](const std::string& name) {
        return std::ranges::find(tokens, name, &AddedToken::text) != tokens.end();
    };
    std::map<std::int64_t, const TokenSettings::Token*> behind;
    for (const TokenSettings::Token& token : settings.added) {
        const int piece = processor.PieceToId(token.name);
        const bool known = processor.IdToPiece(piece) == token.name;
        if (known) {
            require(token.number.value_or(piece) == piece, token.where, " is ", token.number.value_or(0), ", wanted ",
                    piece, " as in the model");
            if (!listed(token.name)) tokens.push_back({token.name, piece, token.special});
        } else if (token.number && !token.name.empty()) {
            const TokenSettings::Token& first = *behind.emplace(*token.number, &token).first->second;
            require(first.name == token.name, token.where, " is ", *token.number, ", as is ", first.where,
                    ", wanted a number for each");
        }
    }
    for (const auto& [number, token] : behind) {
        require(number == std::ssize(bytes), token->where, " is ", number, ", wanted ", bytes.size(),
                ", the next number");
        if (!listed(token->name)) tokens.push_back({token->name, static_cast<std::int32_t>(number), token->special});
        bytes.push_back(token->name);
    }
}

}  // namespace

class SentencePieceEncoder final : public TextEncoder {
public:
    explicit SentencePieceEncoder(const SentencePiece& tokenizer)
        : tokenizer_(tokenizer), pre_tokenizer_(tokenizer.splits_) {}

    void feed(std::string_view text, Tokens& tokens) override {
        // A text begins as every other word does: with a space.
        if (!begun_ && tokenizer_.prepends_space_) pending_ += ' ';
        begun_ = true;
        pending_ += text;
        if (pending_.size() >= wanted_) cut(true, tokens);
    }

    void finish(Tokens& tokens) override {
        cut(false, tokens);
        begun_ = false;
    }

private:
    void cut(bool more, Tokens& tokens) {
        const auto each = [&](std::string_view word) { encode(word, tokens); };
        pending_.erase(0, pre_tokenizer_.cut(pending_, more, each));
        wanted_ = std::max(ENCODED_AT_ONCE, 2 * pending_.size());
    }

    void encode(std::string_view word, Tokens& tokens) {
        auto known = cache_.find(word);
        if (known.empty()) {
            ask(word);
            cache_.insert(word, word_);
            known = word_;
        }
        tokens.insert(tokens.end(), known.begin(), known.end());
    }

    void ask(std::string_view word) {
        const SentencePieceProcessor& processor = *tokenizer_.processor_;
        if (tokenizer_.prepends_space_ && word == " ") {
            word_ = {processor.PieceToId(SPACE_MARK)};
            return;
        }
        // The library puts a space before the word: the word's own, or an additional one that stays a token by itself
        // before a line end.
        const bool own_space = tokenizer_.prepends_space_ && word[0] == ' ';
        const bool one_more = tokenizer_.prepends_space_ && !own_space;
        encode_pieces(processor, own_space ? word.substr(1) : word, &word_);
        if (one_more && !word_.empty()) word_.erase(word_.begin());
    }

    const SentencePiece& tokenizer_;
    PreTokenizer pre_tokenizer_;
    WordCache cache_;
    std::string pending_;
    std::size_t wanted_ = ENCODED_AT_ONCE;
    bool begun_ = false;
    Tokens word_;
};

std::unique_ptr<SentencePiece> SentencePiece::load(const std::filesystem::path& path, const TokenSettings& settings) {
    const std::string file = path.string(), content = read_small_text(path, VOCABULARY_LIMIT);
    const auto processor = std::make_shared<SentencePieceProcessor>();
    const bool loaded = check_normalizers(content, file) &&
                        succeeds([&] { return processor->LoadFromSerializedProto(content); }) &&
                        processor->GetPieceSize() > 0;
    require(loaded, file, " is no SentencePiece model (", content.size(), " bytes), wanted a tokenizer.model");
    Added added;
    std::vector<std::string> bytes;
    for (int token = 0; token < processor->GetPieceSize(); ++token) {
        const std::string& piece = processor->IdToPiece(token);
        const bool special = processor->IsControl(token) || processor->IsUnknown(token);
        if (special) added.tokens.push_back({piece, token});
        bytes.push_back(special ? piece : bytes_of(*processor, piece));
    }
    if (const int token = processor->bos_id(); token >= 0) added.bounds.begin = token;
    if (const int token = processor->eos_id(); token >= 0) added.bounds.end = token;
    add_settings(settings, *processor, added.tokens, bytes);
    settings.decide(added.bounds, added.tokens);
    const bool prepends = adds_space(*processor, file);
    std::unique_ptr<SentencePiece> tokenizer(new SentencePiece(processor, std::move(added), std::move(bytes)));
    tokenizer->prepends_space_ = prepends;
    return tokenizer;
}

SentencePiece::SentencePiece(Processor processor, Added added, std::vector<std::string> bytes)
    : Tokenizer(std::move(added)),
      processor_(std::move(processor)),
      bytes_(std::move(bytes)),
      splits_(splits_before_spaces(bytes_)) {}

std::string SentencePiece::bytes(std::int32_t token) const {
    return bytes_[index_of(token)];
}

std::unique_ptr<TextEncoder> SentencePiece::text_encoder() const {
    return std::make_unique<SentencePieceEncoder>(*this);
}

}  // namespace vkf
