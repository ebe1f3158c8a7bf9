// vkformer data bpe: a byte-level byte-pair encoding, learnt from texts.

#include "apps/data/data_bpe.h"

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "apps/data/data_progress.h"
#include "apps/inspect/facts.h"
#include "base/files/file.h"
#include "models/data/text/documents.h"
#include "models/files/held_files.h"
#include "models/tokenizers/bpe/bpe_learner.h"
#include "models/tokenizers/bpe/byte_level_model.h"
#include "models/tokenizers/bpe/gpt2_files.h"
#include "models/tokenizers/tokenizer_json/tokenizer_json.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct BpeOptions {
    std::vector<std::string> inputs, special{std::string(END_OF_TEXT)};
    std::string out, text_key = "text";
    std::int64_t vocab_size = 0;
    bool overwrite = false;
};

/// Counts the words of all documents; returns the texts' bytes.
std::uint64_t count_words(const Common& common, BpeLearner& learner, const std::vector<TextFile>& files,
                          const std::string& text_key) {
    ReadingProgress progress(common, "words", files);
    Documents documents(files, text_key);
    std::uint64_t bytes = 0;
    while (documents.next()) {
        for (std::string_view part; !(part = documents.read()).empty(); bytes += part.size()) {
            stop_if_interrupted();
            learner.feed(part);
            progress.update(documents);
        }
        learner.finish();
    }
    return bytes;
}

BpeModel learn(const Common& common, const BpeLearner& learner, const BpeOptions& o) {
    Progress progress(common, "bpe", "tokens", o.vocab_size);
    return learner.learn(static_cast<std::size_t>(o.vocab_size), o.special, [&](std::size_t tokens) {
        stop_if_interrupted();
        progress.update(static_cast<std::int64_t>(tokens));
    });
}

void make_tokenizer(const Common& common, const BpeOptions& o) {
    const std::vector<fs::path> inputs(o.inputs.begin(), o.inputs.end());
    const std::vector<TextFile> files = text_files(inputs);
    std::vector<fs::path> read;
    for (const TextFile& file : files) read.push_back(file.path);
    ClaimedDirectory out = claim_directory(o.out, o.overwrite, read);
    catch_interrupts();
    BpeLearner learner;
    const std::uint64_t bytes = count_words(common, learner, files, o.text_key);
    const BpeModel model = learn(common, learner, o);
    const nlohmann::ordered_json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                                           {"eos_token", o.special.front()}};
    const auto fill = [&](const fs::path& folder) {
        write_atomically(folder / "tokenizer.json", tokenizer_json(model));
        write_atomically(folder / "tokenizer_config.json", config.dump(2) + "\n");
        write_atomically(folder / "vocab.json", vocab_json(model));
        write_atomically(folder / "merges.txt", merges_txt(model));
        stop_if_interrupted();
    };
    out.publish(fill);
    print_facts(common, {{"out", o.out},
                         {"bytes", bytes},
                         {"vocab_size", model.tokens.size()},
                         {"merges", model.merges.size()},
                         {"special", o.special}});
}

}  // namespace

void add_data_bpe(cli::Command& data, Common& common) {
    cli::Command& part = data.add_subcommand("bpe", "Learn a byte-level BPE from texts: tokenizer.json, vocab.json, …");
    auto o = std::make_shared<BpeOptions>();
    part.add_option("input", o->inputs, "Text files, .jsonl and .json files, directories of .txt and .jsonl files")
        .required()
        .type_name("PATH...");
    part.add_option("--vocab-size", o->vocab_size, "Tokens, with the 256 bytes and the special ones")
        .required()
        .type_name("N")
        .check(whole(257, std::numeric_limits<std::int32_t>::max()));
    part.add_option("--out", o->out, "Directory to write to").required().type_name("DIR");
    part.add_option("--special", o->special, "Special tokens; the first one ends texts")
        .type_name("TOKEN...")
        .any_words()
        .check(words())
        .capture_default_str();
    part.add_option("--text-key", o->text_key, "Where an object of a .jsonl or .json file has its text")
        .type_name("KEY")
        .capture_default_str();
    part.add_flag("--overwrite", o->overwrite, "Replace the tokenizer, data, model or run that is there");
    part.footer(
        "Examples:\n"
        "  vkformer data bpe books --vocab-size 4096 --out books-bpe\n"
        "  vkformer data bpe chats.jsonl --vocab-size 8192 --out chats-bpe --special '<|im_end|>' '<|im_start|>'\n"
        "\n"
        "Words are cut as GPT-2's are. The result does not depend on the order of the texts.\n");
    part.callback([o, &common] { make_tokenizer(common, *o); });
    add_common(part, common);
}

}  // namespace vkf
