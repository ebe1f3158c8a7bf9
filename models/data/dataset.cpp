#include "models/data/dataset.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

/// A part of a text in tokens; messages begin with `where`.
std::vector<std::int32_t> encode_part(const std::string& where, std::string_view text,
                                      const TokenDataset::Encode& encode) try {
    return encode(text);
} catch (const InputError& error) {
    throw InputError(where, ": ", error.what());
}

}  // namespace

TokenDataset TokenDataset::open(const fs::path& path, const Encode& encode) {
    std::error_code ignored;
    require(fs::exists(path, ignored), "data ", path.string(),
            ": does not exist, wanted a text, a token file or a directory of them");
    TokenDataset data;
    data.path_ = path;
    const fs::path train = path / "train.bin", val = path / "val.bin";
    if (fs::exists(train, ignored) || fs::exists(val, ignored)) {
        data.files_.emplace_back(train);
        data.files_.emplace_back(val);
        data.train_ = data.files_[0].tokens();
        data.val_ = data.files_[1].tokens();
        data.tokenizer_ = find_tokenizer(path);
    } else if (path.extension() == ".bin" && !fs::is_directory(path, ignored)) {
        const auto tokens = data.files_.emplace_back(path).tokens();
        data.train_ = tokens.first(training_share(tokens.size()));
        data.val_ = tokens.subspan(data.train_.size());
    } else {
        data.read_text_from(path, encode);
    }
    data.greatest_ = std::max(vkf::greatest_token(data.train_), vkf::greatest_token(data.val_));
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    data.require_below(most, text("a vocabulary has at most ", most));
    if (const auto& tokenizer = data.tokenizer_)
        data.require_below((*tokenizer)->size(), text(tokenizer->path.string(), " has ", (*tokenizer)->size()));
    return data;
}

void TokenDataset::require_below(std::size_t size, const std::string& whose) const {
    if (greatest_ < size) return;
    const auto look = [&](const fs::path& where, TokenSpan tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i)
            require(tokens[i] < size, where.string(), ": token ", i, " is ", tokens[i], ", wanted 0 to ", size - 1,
                    " (", whose, ")");
    };
    for (const TokenFile& file : files_) look(file.path(), file.tokens());
    look(path_, encoded_);
}

void TokenDataset::read_text_from(const fs::path& path, const Encode& encode) {
    const std::string text = read_corpus(path);
    const auto [train, val] = split_text(text);
    std::size_t training = 0;
    if (encode) {
        std::vector<std::int32_t> tokens = encode_part(path.string(), train, encode);
        training = tokens.size();
        const auto rest = encode_part(path.string() + ": validation part", val, encode);
        tokens.insert(tokens.end(), rest.begin(), rest.end());
        encoded_ = packed_tokens(tokens);
    } else {
        const auto characters = std::make_shared<const Characters>(Characters::of(text));
        tokenizer_ = SavedTokenizer{characters, "chars.json", {{"chars.json", characters->json()}}};
        encoded_ = characters->tokens_of(text);
        training = training_share(TokenSpan(encoded_).size());
    }
    train_ = TokenSpan(encoded_).first(training);
    val_ = TokenSpan(encoded_).subspan(training);
}

Order order_named(std::string_view word) {
    if (word == "random") return Order::random;
    if (word == "sequential") return Order::sequential;
    throw InputError("order '", word, "' is unknown, wanted random or sequential");
}

Batches::Batches(std::string name, TokenSpan tokens, const Options& options)
    : name_(std::move(name)), tokens_(tokens), options_(options) {
    require(options.rows >= 1 && options.length >= 1, name_, " batches: ", options.rows, " x ", options.length,
            " tokens, wanted at least 1 x 1");
    require(tokens.size() > options.length, name_, " data: ", tokens.size(),
            " tokens, wanted more than the block size ", options.length);
}

std::vector<std::size_t> Batches::starts(std::uint64_t t) const {
    const std::uint64_t choices = tokens_.size() - options_.length;  // N − T
    Random random(options_.seed, "batch/" + name_, t);
    std::vector<std::size_t> starts(options_.rows);
    for (std::size_t b = 0; b < starts.size(); ++b) {
        starts[b] = options_.order == Order::random ? random.below(choices)
                                                    : (t * options_.rows + b) * options_.length % choices;
    }
    return starts;
}

Batch Batches::at(std::uint64_t t) const {
    const std::size_t length = options_.length, count = options_.rows * length;
    Batch batch{std::vector<std::int32_t>(count), std::vector<std::int32_t>(count)};
    std::size_t row = 0;
    for (const std::size_t start : starts(t)) {
        tokens_.subspan(start, length).copy_to(std::span(batch.tokens).subspan(row, length));
        tokens_.subspan(start + 1, length).copy_to(std::span(batch.targets).subspan(row, length));
        row += length;
    }
    if (options_.objective) {
        Random random(options_.seed, "objective/" + name_, t);
        options_.objective(batch, random);
    }
    return batch;
}

}  // namespace vkf
