// vkformer data: prepares text, makes synthetic tokens, and describes data sets; images are in data_images.cpp and
// data_preview.cpp.

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/raw_output.h"
#include "apps/data/data_bpe.h"
#include "apps/data/data_images.h"
#include "apps/data/data_listops.h"
#include "apps/data/data_passages.h"
#include "apps/data/data_pixels.h"
#include "apps/data/data_preview.h"
#include "apps/data/data_tokens.h"
#include "apps/inspect/facts.h"
#include "apps/train/image_options.h"
#include "base/files/file.h"
#include "base/random.h"
#include "models/data/data_paths.h"
#include "models/data/dataset.h"
#include "models/data/images/image_set.h"
#include "models/files/held_files.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct TextDataOptions {
    std::string path, out;
    std::int64_t tokens = 1'000'000;
    std::int64_t vocab_size = 64;
    std::int64_t max_pixels = DEFAULT_MAX_PIXELS;
    bool overwrite = false;
};

/// Puts train.bin, val.bin and, if there are characters, chars.json into a directory, all or none, in place of earlier
/// ones.
void publish(ClaimedDirectory& out, TokenSpan tokens, const Characters* characters) {
    catch_interrupts();
    const std::size_t training = training_share(tokens.size());
    require(training > 0 && training < tokens.size(), out.directory.path().string(), ": ", tokens.size(),
            " tokens cannot be split into training and validation, wanted at least 2");
    const auto fill = [&](const fs::path& folder) {
        write_tokens(folder / "train.bin", tokens.first(training));
        stop_if_interrupted();
        write_tokens(folder / "val.bin", tokens.subspan(training));
        if (characters) write_atomically(folder / "chars.json", characters->json());
        stop_if_interrupted();
    };
    out.publish(fill);
}

void prepare_text(const Common& common, const TextDataOptions& o) {
    std::error_code ignored;
    std::vector<fs::path> inputs;
    if (!fs::is_directory(o.path, ignored)) inputs.emplace_back(o.path);  // in a directory, only texts are read
    ClaimedDirectory out = claim_directory(o.out, o.overwrite, inputs);
    const std::string words = read_corpus(o.path);
    const Characters characters = Characters::of(words);
    const TokenList list = characters.tokens_of(words);
    const TokenSpan tokens = list;
    publish(out, tokens, &characters);
    print_facts(common, {{"out", o.out},
                         {"train_tokens", training_share(tokens.size())},
                         {"val_tokens", tokens.size() - training_share(tokens.size())},
                         {"vocab_size", characters.size()}});
}

/// A Markov chain: token i is followed by its favourite successor with probability 1/2, by its next two with 1/4 and
/// 1/8, else by any token. No model can have a lower loss than the chain's entropy.
class Chain {
public:
    Chain(std::uint64_t seed, std::size_t size) : random_(seed, "synthetic"), favourites_(size) {
        for (auto& three : favourites_)
            for (std::size_t& favourite : three) favourite = random_.below(size);
    }

    std::size_t next(std::size_t token) {
        const std::uint64_t eighths = random_.below(8);
        if (eighths == 7) return random_.below(favourites_.size());
        return favourites_[token][eighths < 4 ? 0 : eighths < 6 ? 1 : 2];
    }

    /// −Σ p log p over the tokens that can follow `token`; natural logarithm.
    double entropy(std::size_t token) const {
        const auto size = static_cast<double>(favourites_.size());
        std::map<std::size_t, double> often;  // probability above any token's share
        for (std::size_t k = 0; k < 3; ++k) often[favourites_[token][k]] += std::array{0.5, 0.25, 0.125}[k];
        const double any = 0.125 / size;
        double sum = -(size - static_cast<double>(often.size())) * any * std::log(any);
        for (const auto& [favourite, more] : often) sum -= (any + more) * std::log(any + more);
        return sum;
    }

private:
    Random random_;
    std::vector<std::array<std::size_t, 3>> favourites_;
};

void make_synthetic(const Common& common, const TextDataOptions& o) {
    constexpr std::int64_t most = 10'000'000;
    require(o.vocab_size <= most, "--vocab-size is ", o.vocab_size, ", wanted at most ", most);
    ClaimedDirectory out = claim_directory(o.out, o.overwrite);
    const auto size = static_cast<std::size_t>(o.vocab_size);
    Chain chain(common.seed, size);
    std::vector<std::int32_t> drawn(static_cast<std::size_t>(o.tokens));
    std::vector<std::size_t> visits(size);
    std::size_t at = 0;
    for (std::int32_t& token : drawn) {
        token = static_cast<std::int32_t>(at = chain.next(at));
        ++visits[at];
    }
    const TokenList list = packed_tokens(drawn);
    const TokenSpan tokens = list;
    double entropy = 0;
    for (std::size_t token = 0; token < size; ++token)
        if (visits[token])
            entropy += chain.entropy(token) * static_cast<double>(visits[token]) / static_cast<double>(tokens.size());
    publish(out, tokens, nullptr);
    print_facts(common, {{"out", o.out},
                         {"train_tokens", training_share(tokens.size())},
                         {"val_tokens", tokens.size() - training_share(tokens.size())},
                         {"vocab_size", size},
                         {"least_loss", entropy}});
}

void find(const Common& common, const TextDataOptions& o) {
    const std::optional<fs::path> found = find_data(o.path);
    require(found.has_value(), o.path, " is not in ", DATA_FOLDERS);
    common.json ? print_json({{"path", found->string()}}) : print_as_is(found->string() + "\n");
}

void describe(const Common& common, const TextDataOptions& o) {
    if (holds_images(o.path)) return print_facts(common, image_facts(common, o.path, o.max_pixels));
    const TokenDataset data = TokenDataset::open(o.path);
    const std::size_t size = data.vocabulary_size();
    print_facts(common, {{"path", o.path},
                         {"train_tokens", data.train().size()},
                         {"val_tokens", data.val().size()},
                         {"vocab_size", size},
                         {"greatest_token", data.greatest_token()},
                         {"characters", data.tokenizer() && data.tokenizer()->files.contains("chars.json")},
                         {"tokenizer", data.tokenizer() ? ordered_json(data.tokenizer()->path.string()) : nullptr},
                         {"uniform_loss", std::log(static_cast<double>(size))}});
}

}  // namespace

void add_data(cli::Command& app, Common& common) {
    cli::Command& command =
        app.add_subcommand("data", "Prepare text and images, make synthetic sets, describe a data set");
    command.require_subcommand();
    auto o = std::make_shared<TextDataOptions>();
    const auto add = [&](const char* name, const char* about, const char* example, auto work) -> cli::Command& {
        cli::Command& part = command.add_subcommand(name, about);
        part.footer(text("Example:\n  vkformer data ", example, "\n"));
        part.callback([o, &common, work] { work(common, *o); });
        return part;
    };
    cli::Command& words = add("text", "Characters of a UTF-8 file or directory as train.bin, val.bin, chars.json",
                              "text input.txt --out data/chars", prepare_text);
    words.add_option("path", o->path, "File, or directory of text files").required().type_name("PATH");
    cli::Command& synthetic = add("synthetic", "A Markov chain's tokens, whose least possible loss is known",
                                  "synthetic --out data/chain --tokens 200000", make_synthetic);
    synthetic.add_option("--tokens", o->tokens, "How many").type_name("N").check(whole(2)).capture_default_str();
    synthetic.add_option("--vocab-size", o->vocab_size, "Different tokens")
        .type_name("N")
        .check(whole(1))
        .capture_default_str();
    for (cli::Command* maker : {&words, &synthetic}) {
        maker->add_option("--out", o->out, "Directory to write to").required().type_name("DIR");
        maker->add_flag("--overwrite", o->overwrite, "Replace the data, model or run that is there");
        add_common(*maker, common);
    }
    add_data_tokens(command, common);
    add_data_bpe(command, common);
    add_data_listops(command, common);
    add_data_passages(command, common);
    add_data_pixels(command, common);
    add_data_images(command, common);
    add_data_preview(command, common);
    cli::Command& info =
        add("info", "What a token file, text, or directory of data or images holds", "info data/chars", describe);
    info.add_option("path", o->path, "Token file, text, or directory").required().type_name("PATH");
    add_max_pixels_option(info, o->max_pixels);
    add_common(info, common);
    cli::Command& finder =
        add("find", "Where a file or folder of data lies on this machine", "find tinyshakespeare/input.txt", find);
    finder.footer(text("Example:\n  vkformer data find tinyshakespeare/input.txt\n\nLooks in ", DATA_FOLDERS,
                       ":\n~/.local/share/vkformer, /usr/local/share/vkformer and /usr/share/vkformer unless "
                       "$XDG_DATA_HOME\nand $XDG_DATA_DIRS say otherwise.\n"));
    finder.add_option("name", o->path, "Path below one of these folders").required().type_name("NAME");
    add_common(finder, common);
    command.footer(
        "Examples:\n  vkformer data text input.txt --out data/chars\n"
        "  vkformer data bpe books --vocab-size 4096 --out books-bpe\n"
        "  vkformer data tokens books --tokenizer books-bpe --out data/books\n  vkformer data cifar10\n"
        "  vkformer data info data/chars\n"
        "  vkformer data preview --data data/cifar10 --out preview.png\n");
}

}  // namespace vkf
