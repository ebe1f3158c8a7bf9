// vkformer data passages: passages of texts, labelled by the text that they are from.

#include "apps/data/data_passages.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/inspect/facts.h"
#include "base/error.h"
#include "base/files/file.h"
#include "models/data/sequences/passages.h"
#include "models/data/text/text.h"
#include "models/files/held_files.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct PassageOptions {
    std::vector<std::string> inputs;
    std::string out;
    std::int64_t bytes = 1024;
    PassageShares shares;
    bool overwrite = false;
};

/// A class: the text of an input, under the name of its file or directory.
struct LabelledText {
    std::string label, text;
};

std::vector<LabelledText> read_inputs(const PassageOptions& o) {
    std::vector<LabelledText> texts;
    std::set<std::string> labels;
    for (const std::string& input : o.inputs) {
        const fs::path path = fs::path(input).has_filename() ? fs::path(input) : fs::path(input).parent_path();
        const std::string label = (fs::is_directory(path) ? path.filename() : path.stem()).string();
        require(labels.insert(label).second, input, ": another input is called ", label, " too, wanted another name");
        stop_if_interrupted();
        texts.push_back({label, read_corpus(path)});
    }
    require(texts.size() > 1, "there is one text, wanted several: each is a class");
    return texts;
}

/// Writes the passages of all classes as objects, one on a line.
void write_passages(const std::vector<LabelledText>& texts, const std::vector<Passages>& cut,
                    const std::vector<std::string_view> Passages::*split, FileWriter& file) {
    for (std::size_t i = 0; i < texts.size(); ++i)
        for (const std::string_view passage : cut[i].*split) {
            stop_if_interrupted();
            const nlohmann::ordered_json object{{"text", passage}, {"label", texts[i].label}};
            file.write(object.dump() + "\n");
        }
}

void make_passages(const Common& common, const PassageOptions& o) {
    require(o.shares.val + o.shares.test < 1, "--val-fraction ", o.shares.val, " and --test-fraction ", o.shares.test,
            " leave nothing for training");
    catch_interrupts();
    ClaimedDirectory out = claim_directory(o.out, o.overwrite, {o.inputs.begin(), o.inputs.end()});
    const std::vector<LabelledText> texts = read_inputs(o);
    std::vector<Passages> cut;
    nlohmann::ordered_json classes = nlohmann::ordered_json::object();
    std::size_t train = 0, val = 0, test = 0;
    for (const LabelledText& text : texts) {
        const Passages& made = cut.emplace_back(cut_passages(text.text, static_cast<std::size_t>(o.bytes), o.shares));
        const auto none = [](double share, const std::vector<std::string_view>& part) {
            return share > 0 && part.empty();
        };
        require(!made.train.empty() && !none(o.shares.val, made.val) && !none(o.shares.test, made.test), "text ",
                text.label, " has ", text.text.size(), " bytes, too few for passages of ", o.bytes,
                " in every split: wanted smaller --bytes or longer texts");
        classes[text.label] = made.train.size() + made.val.size() + made.test.size();
        train += made.train.size();
        val += made.val.size();
        test += made.test.size();
    }
    out.publish([&](const fs::path& folder) {
        const auto write = [&](const char* name, std::size_t count,
                               const std::vector<std::string_view> Passages::*split) {
            if (count > 0)
                write_atomically(folder / name, [&](FileWriter& file) { write_passages(texts, cut, split, file); });
        };
        write("train.jsonl", train, &Passages::train);
        write("val.jsonl", val, &Passages::val);
        write("test.jsonl", test, &Passages::test);
    });
    print_facts(common, {{"out", o.out}, {"train", train}, {"val", val}, {"test", test}, {"classes", classes}});
}

}  // namespace

void add_data_passages(cli::Command& data, Common& common) {
    cli::Command& part =
        data.add_subcommand("passages", "Passages of texts, labelled by their text, as train.jsonl, val.jsonl, …");
    auto o = std::make_shared<PassageOptions>();
    part.add_option("input", o->inputs, "Texts, each a class: files, or directories of text files")
        .required()
        .type_name("PATH...");
    part.add_option("--out", o->out, "Directory to write to").required().type_name("DIR");
    part.add_option("--bytes", o->bytes, "Bytes of a passage; up to 3 less where a character would be cut")
        .type_name("N")
        .check(whole(4, 100'000'000))
        .capture_default_str();
    const auto share = [&](const char* name, double& value, const char* help) {
        part.add_option(name, value, help)
            .type_name("X")
            .check(number({.least = 0, .most = 1, .most_too = false}))
            .capture_default_str();
    };
    share("--val-fraction", o->shares.val, "Share of each text for validation, before that for the test; 0: none");
    share("--test-fraction", o->shares.test, "Share at the end of each text for the test; 0: none");
    part.add_flag("--overwrite", o->overwrite, "Replace the data, model or run that is there");
    part.footer(
        "Example:\n"
        "  vkformer data passages books input.txt --bytes 64 --out passages\n"
        "\n"
        "Passages follow each other without overlap, and each split is one continuous part of a text. A file's class\n"
        "has its name without the ending.\n");
    part.callback([o, &common] { make_passages(common, *o); });
    add_common(part, common);
}

}  // namespace vkf
