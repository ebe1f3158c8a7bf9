// vkformer translate: the sentences of a text in another language, line by line.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/generate/alignment_maps.h"
#include "apps/generate/translate_lines.h"
#include "apps/model.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/text/utf8.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

struct TranslateCommandOptions {
    std::string model, file = "-", maps;
    bool verify = true, overwrite = false;
    std::vector<std::string> texts;
    std::int64_t n_best = 1;
    TranslateOptions how;
};

/// Lines to translate, and the name of their origin.
struct SourceLines {
    std::string name;
    std::vector<std::string> lines;
};

SourceLines read_sources(const TranslateCommandOptions& o) {
    if (!o.texts.empty()) return {"--text", o.texts};
    SourceLines read{o.file == "-" ? "standard input" : o.file, {}};
    const std::string content = o.file == "-" ? read_standard_input() : read_text(o.file);
    for (std::size_t begin = 0; begin < content.size();) {
        const std::size_t end = std::min(content.find('\n', begin), content.size());
        std::string line = content.substr(begin, end - begin);
        if (line.ends_with('\r')) line.pop_back();
        require(!invalid_utf8(line), read.name, ": line ", read.lines.size() + 1, " is not UTF-8");
        read.lines.push_back(std::move(line));
        begin = end + 1;
    }
    require(!read.lines.empty(), read.name, " is empty, wanted a sentence on every line");
    return read;
}

nlohmann::ordered_json document(const SourceLines& sources, const Translations& made) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < made.lines.size(); ++i) {
        nlohmann::ordered_json of_line{{"source", sources.lines[i]}, {"translations", nlohmann::ordered_json::array()}};
        for (const Translation& each : made.lines[i])
            of_line["translations"].push_back({{"text", each.text},
                                               {"score", each.hypothesis.score},
                                               {"log_probability", each.hypothesis.log_probability},
                                               {"tokens", each.hypothesis.tokens}});
        list.push_back(std::move(of_line));
    }
    return {{"sentences", list}, {"tokens", made.tokens}, {"seconds", made.seconds}};
}

void write(const Common& common, const TranslateCommandOptions& o, const SourceLines& sources,
           const Translations& made) {
    if (common.json) return print_json(document(sources, made));
    for (std::size_t i = 0; i < made.lines.size(); ++i) {
        if (o.n_best == 1) {
            print(text(made.lines[i].empty() ? "" : made.lines[i].front().text, '\n'));
            continue;
        }
        for (const Translation& each : made.lines[i])
            print(text(i, " ||| ", each.text, " ||| ", fixed(each.hypothesis.score, 4), '\n'));
    }
    note(common, text("wrote ", made.tokens, " tokens at ",
                      count_text(static_cast<double>(made.tokens) / std::max(made.seconds, 1e-9)), "/s"));
}

void run_translate(const Common& common, TranslateCommandOptions& o) {
    const SourceLines sources = read_sources(o);
    const TranslationModel model = open_translation_model({o.model, {}, o.verify});
    o.how.take_defaults(common, model);
    require(o.n_best <= o.how.beam_size, "--n-best is ", o.n_best, ", and --beam-size ", o.how.beam_size,
            " gives no more hypotheses than that");
    if (!o.maps.empty()) prepare_alignment_maps(o.maps, o.file, sources.lines.size(), o.overwrite);
    catch_interrupts();
    with_device(common, [&](Device& device) {
        const Translations made =
            translate_lines(device, common, model, sources.lines, o.how, o.n_best,
                            [&](std::size_t line) { return text(sources.name, ": line ", line + 1); });
        write(common, o, sources, made);
        if (!o.maps.empty()) write_alignment_maps(device, common, model, o.maps, made);
    });
}

}  // namespace

void add_translate(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("translate", "Sentences translated, line by line");
    auto o = std::make_shared<TranslateCommandOptions>();
    command.add_option("--model,model", o->model, "Model directory").required().type_name("DIR");
    add_verify_option(command, o->verify);
    command.add_option("--file", o->file, "Sentences to translate, one on a line; - is standard input")
        .type_name("FILE")
        .capture_default_str();
    command.add_option("--text", o->texts, "A sentence to translate; may be given several times")
        .type_name("TEXT")
        .one_word_each()
        .excludes("--file");
    o->how.declare(command);
    command.add_option("--n-best", o->n_best, "Hypotheses to write for each sentence, with their scores")
        .type_name("N")
        .check(whole(1))
        .capture_default_str();
    command.add_option("--batch-size", o->how.batch_size, "Sentences translated at once")
        .type_name("N")
        .check(whole(1, 4096))
        .capture_default_str();
    command
        .add_option("--attention-maps", o->maps,
                    "Directory for LINE.svg: the tokens of a line that its best translation reads, layer by layer")
        .type_name("DIR");
    command.add_flag("--overwrite", o->overwrite, "Replace maps that are there");
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer translate --model out --text 'To be'\n"
        "  vkformer translate --model out --file test.en --batch-size 32 > translated.de\n"
        "  vkformer translate --model out --beam-size 8 --n-best 3 < test.en\n"
        "  vkformer translate --model out --text 'To be' --attention-maps maps\n"
        "\n"
        "A line is one sentence; an empty line stays empty. With --n-best above 1, every hypothesis is a line\n"
        "NUMBER ||| TEXT ||| SCORE, sentences counted from 0. A score is the sum of the tokens' log-probabilities,\n"
        "divided by the length penalty. Without options, the settings in the model's generation_config.json or\n"
        "config.json are the defaults.\n");
    command.callback([o, &common] { run_translate(common, *o); });
}

}  // namespace vkf
