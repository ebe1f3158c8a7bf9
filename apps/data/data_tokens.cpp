// vkformer data tokens: encodes texts as tokens of a tokenizer, in files for training.

#include "apps/data/data_tokens.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/data/data_progress.h"
#include "apps/inspect/facts.h"
#include "base/files/file.h"
#include "base/random.h"
#include "models/data/text/documents.h"
#include "models/data/text/token_shards.h"
#include "models/files/held_files.h"
#include "models/tokenizers/encoder.h"
#include "models/tokenizers/load_tokenizer.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct TokenDataOptions {
    std::vector<std::string> inputs;
    std::string tokenizer, out, separator;
    std::string text_key = "text";
    bool no_separator = false, separator_first = false;
    bool parse_special = false;
    double val_fraction = 0.1;
    std::optional<std::int64_t> val_documents;
    std::optional<std::int64_t> shard_tokens;
    bool first_shard_validates = false;
    bool overwrite = false;
};

/// Tokens around every document: the token that the model needs at the beginning of texts, and the separator, behind
/// the text or before it.
struct Separation {
    std::optional<std::int32_t> begin, separator;
    bool first = false;
};

/// Token that ends every document.
std::optional<std::int32_t> separator_token(const TokenDataOptions& o, const SavedTokenizer& tokenizer) {
    if (o.separator.empty()) {
        require(tokenizer->end_of_text().has_value(), tokenizer.path.string(),
                ": has no token that ends texts; --separator names one, --no-separator goes without");
        return tokenizer->end_of_text();
    }
    if (const auto token = tokenizer->added_token(o.separator)) return token;
    std::string known;
    for (const AddedToken& added : tokenizer->added_tokens()) known += (known.empty() ? "" : ", ") + added.text;
    throw InputError("--separator ", o.separator, ": is no added token of ", tokenizer.path.string(), ", wanted ",
                     known.empty() ? "one that has them" : known);
}

/// Number of documents, which must be known before some are drawn.
std::uint64_t count_documents(const Common& common, const std::vector<TextFile>& files, const std::string& text_key) {
    ReadingProgress progress(common, "counting documents", files);
    Documents documents(files, text_key);
    std::uint64_t count = 0;
    for (; documents.next(); ++count) {
        stop_if_interrupted();
        progress.update(documents);
    }
    return count;
}

/// Choice of the documents for validation.
class Split {
public:
    /// `documents` is their total number.
    Split(const TokenDataOptions& o, std::uint64_t documents, std::uint64_t seed)
        : random_(seed, "val"), left_(documents), fraction_(o.first_shard_validates ? 0 : o.val_fraction) {
        const auto share = std::llround(fraction_ * static_cast<double>(documents));
        tails_ = !o.val_documents && fraction_ > 0 && fraction_ * static_cast<double>(documents) < 1;
        wanted_ = tails_ ? 0 : static_cast<std::uint64_t>(o.val_documents.value_or(share));
        none_ = !tails_ && wanted_ == 0;
        require(tails_ || wanted_ < documents, "all ", documents, " documents would be for validation, wanted fewer: ",
                o.val_documents ? "--val-documents" : "--val-fraction");
    }

    /// True if the end of each document is for validation, because the fraction of so few documents is less than one.
    bool tails() const { return tails_; }
    /// True if there is no validation.
    bool none() const { return none_; }
    /// True if the next document is for validation. Drawn without replacement, so that the number is exact.
    bool next() {
        require(left_ > 0, "the texts grew while they were read");
        if (random_.below(left_--) >= wanted_) return false;
        --wanted_;
        return true;
    }
    /// Offset at which the tail of a document of `bytes` bytes begins.
    std::uint64_t tail(std::uint64_t bytes) const {
        return static_cast<std::uint64_t>(static_cast<double>(bytes) * (1 - fraction_));
    }

private:
    Random random_;
    std::uint64_t left_, wanted_ = 0;
    double fraction_;
    bool tails_ = false, none_ = false;
};

struct Tally {
    std::uint64_t documents = 0, validation = 0, bytes = 0;
};

/// Encodes texts into token files.
class Tokenization {
public:
    Tokenization(Documents& documents, const Tokenizer& tokenizer, SpecialNames names, const Separation& separation,
                 ReadingProgress& progress)
        : documents_(documents), encoder_(tokenizer, names), separation_(separation), progress_(progress) {}

    Tally run(Split& split, TokenShardWriter& train, TokenShardWriter& val) {
        for (; documents_.next(); ++tally_.documents) {
            const bool validation = split.next();
            if (separation_.first) append(validation ? val : train, separation_.separator);
            append(validation ? val : train, separation_.begin);
            if (split.tails()) {
                encode(train, split.tail(documents_.size()));
                encode(val);
            } else {
                encode(validation ? val : train);
            }
            if (!separation_.first) append(validation || split.tails() ? val : train, separation_.separator);
            tally_.validation += validation;
        }
        return tally_;
    }

private:
    /// Encodes the document's text up to byte `limit`.
    void encode(TokenShardWriter& writer, std::uint64_t limit = std::numeric_limits<std::uint64_t>::max()) try {
        for (std::string_view part; !(part = documents_.read(limit)).empty();) {
            stop_if_interrupted();
            encoder_.feed(part, tokens_);
            tally_.bytes += part.size();
            flush(writer);
            progress_.update(documents_);
        }
        encoder_.finish(tokens_);
        flush(writer);
    } catch (const InputError& error) {
        const std::string where = documents_.where();
        if (std::string_view(error.what()).starts_with(where)) throw;
        throw InputError(where, ": ", error.what());
    }

    static void append(TokenShardWriter& writer, const std::optional<std::int32_t>& token) {
        if (token) writer.append({&*token, 1});
    }

    void flush(TokenShardWriter& writer) {
        writer.append(tokens_);
        tokens_.clear();
    }

    Documents& documents_;
    Encoder encoder_;
    Separation separation_;
    ReadingProgress& progress_;
    Tally tally_;
    Tokens tokens_;
};

/// Claims the directory to write to; files that are read are not lost.
ClaimedDirectory claim(const TokenDataOptions& o, const SavedTokenizer& tokenizer, const std::vector<TextFile>& files) {
    std::vector<fs::path> read{tokenizer.path};
    for (const TextFile& file : files) read.push_back(file.path);
    return claim_directory(o.out, o.overwrite, read);
}

/// Path of a shard as llm.c and modded-nanogpt name theirs.
fs::path shard_path(const fs::path& folder, const char* split, std::uint64_t number) {
    const std::string digits = std::to_string(number);
    return folder /
           text("tokens_", split, '_', std::string(6 - std::min<std::size_t>(6, digits.size()), '0'), digits, ".bin");
}

/// Writer of a split: one file, or shards; if the first shard validates, the writer of "train" writes it, too.
TokenShardWriter writer_of(const TokenDataOptions& o, const fs::path& folder, const char* split, std::size_t tokens) {
    if (!o.shard_tokens)
        return {[=](std::uint64_t) { return folder / (std::string(split) + ".bin"); }, {.vocabulary_size = tokens}};
    const bool training = std::string_view(split) == "train", both = o.first_shard_validates;
    return {[=](std::uint64_t number) {
                return shard_path(folder, both && number == 0 ? "val" : split, number + (training && !both ? 1 : 0));
            },
            {.vocabulary_size = tokens, .tokens = static_cast<std::uint64_t>(*o.shard_tokens), .headed = true}};
}

void make_tokens(const Common& common, const TokenDataOptions& o) {
    const std::vector<fs::path> inputs(o.inputs.begin(), o.inputs.end());
    const std::vector<TextFile> files = text_files(inputs);
    const SavedTokenizer tokenizer = load_tokenizer(o.tokenizer);
    Separation separation;
    if (!o.no_separator) separation = {tokenizer->begin_of_text(), separator_token(o, tokenizer), o.separator_first};
    const SpecialNames names = o.parse_special ? SpecialNames::tokens : SpecialNames::text;
    ClaimedDirectory out = claim(o, tokenizer, files);
    catch_interrupts();
    const std::uint64_t count = count_documents(common, files, o.text_key);
    require(count > 0, o.inputs.front(), o.inputs.size() > 1 ? " and the others" : "",
            ": there is no text, wanted documents that are not empty");
    Split split(o, count, common.seed);
    const bool tails = split.tails();
    Documents documents(files, o.text_key);
    ReadingProgress progress(common, "tokens", files);
    Tally tally;
    std::uint64_t train_tokens = 0, val_tokens = 0;
    const auto fill = [&](const fs::path& folder) {
        TokenShardWriter train = writer_of(o, folder, "train", tokenizer->size()),
                         val = writer_of(o, folder, "val", tokenizer->size());
        tally = Tokenization(documents, *tokenizer, names, separation, progress).run(split, train, val);
        for (TokenShardWriter* part : {&train, &val}) {
            const bool wanted = part == &train || !split.none();
            require(!wanted || part->count() > 0, "the texts have no tokens for ",
                    part == &train ? "training" : "validation");
            part->finish();
        }
        val_tokens = val.count();
        if (o.first_shard_validates) {
            require(train.files() > 1, "the texts have ", train.count(), " tokens, wanted more than --shard-tokens ",
                    o.shard_tokens.value_or(0), ": the first shard is for validation");
            val_tokens = static_cast<std::uint64_t>(o.shard_tokens.value_or(0));
        }
        train_tokens = train.count() + val.count() - val_tokens;
        for (const auto& [name, content] : tokenizer.files) write_atomically(folder / name, content);
        stop_if_interrupted();
    };
    out.publish(fill);
    nlohmann::ordered_json facts{{"out", o.out},
                                 {"documents", tally.documents},
                                 {"bytes", tally.bytes},
                                 {"train_tokens", train_tokens},
                                 {"val_tokens", val_tokens},
                                 {"vocab_size", tokenizer->size()},
                                 {"val_documents", tally.validation},
                                 {"val_tails", tails},
                                 {"begin", nullptr},
                                 {"separator", nullptr}};
    if (separation.begin) facts["begin"] = tokenizer->bytes(*separation.begin);
    if (separation.separator) facts["separator"] = tokenizer->bytes(*separation.separator);
    if (o.shard_tokens) facts["shard_tokens"] = *o.shard_tokens;
    print_facts(common, facts);
}

}  // namespace

void add_data_tokens(cli::Command& data, Common& common) {
    cli::Command& part =
        data.add_subcommand("tokens", "Tokens of texts as train.bin, val.bin and the tokenizer's files");
    auto o = std::make_shared<TokenDataOptions>();
    part.add_option("input", o->inputs, "Text files, .jsonl and .json files, directories of .txt and .jsonl files")
        .required()
        .type_name("PATH...");
    part.add_option("--tokenizer", o->tokenizer, "File of a tokenizer, or a directory that has one")
        .required()
        .type_name("PATH");
    part.add_option("--out", o->out, "Directory to write to").required().type_name("DIR");
    part.add_option("--text-key", o->text_key, "Where an object of a .jsonl or .json file has its text")
        .type_name("KEY")
        .capture_default_str();
    part.add_option("--separator", o->separator, "Added token that ends documents (the one that ends texts)")
        .type_name("TOKEN");
    part.add_flag("--no-separator", o->no_separator, "Nothing between documents, before or behind them")
        .excludes("--separator");
    part.add_flag("--separator-first", o->separator_first, "Separator before every document, not behind it")
        .excludes("--no-separator");
    part.add_flag("--parse-special", o->parse_special,
                  "Names of special tokens in the texts, such as <|endoftext|>, are these tokens");
    part.add_option("--val-documents", o->val_documents, "Documents for validation, drawn at random")
        .type_name("N")
        .check(whole(1));
    part.add_option("--val-fraction", o->val_fraction, "The same as a share of the documents; 0: no val.bin")
        .type_name("X")
        .check(number({.least = 0, .most = 1, .most_too = false}))
        .capture_default_str()
        .excludes("--val-documents");
    part.add_option("--shard-tokens", o->shard_tokens,
                    "Shards of so many tokens instead of train.bin and val.bin, as llm.c names and writes them")
        .type_name("N")
        .check(whole(2));
    part.add_flag("--first-shard-validates", o->first_shard_validates,
                  "The first shard is for validation, the others for training, in the order of the texts")
        .needs("--shard-tokens")
        .excludes("--val-documents")
        .excludes("--val-fraction");
    part.add_flag("--overwrite", o->overwrite, "Replace the data, model or run that is there");
    part.footer(
        "Examples:\n"
        "  vkformer data tokens input.txt --tokenizer bpe --out data/shakespeare\n"
        "  vkformer data tokens web.jsonl books --tokenizer bpe/tokenizer.json --out data/web --val-fraction 0.01\n"
        "\n"
        "A text file is one document, and so is every line of a .jsonl file and every object of a .json list. Every\n"
        "document begins with the token that the tokenizer's files put before texts, if they do, and ends with the\n"
        "separator. Where --val-fraction of the documents is less than one, that share of each document's end is for\n"
        "validation instead. Texts may be larger than memory. Tokens are uint16 where the vocabulary fits (nanoGPT's\n"
        "layout), else uint32 (llm.c's). modded-nanogpt's data are those of --separator-first, --shard-tokens "
        "100000000\n"
        "and --first-shard-validates.\n");
    part.callback([o, &common] { make_tokens(common, *o); });
    add_common(part, common);
}

}  // namespace vkf
