// vkformer eval: quality of a model on data.

#include "apps/eval/eval.h"

#include <cmath>
#include <initializer_list>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "apps/model.h"
#include "apps/tasks.h"
#include "apps/train/image_options.h"

namespace vkf {

namespace {

void run(const cli::Command& command, const Common& common, const EvalOptions& o) {
    const int subjects = !o.data.empty() + !o.text.empty() + !o.hellaswag.empty() + !o.source.empty();
    require(subjects == 1, "eval: ", subjects == 0 ? "--data is missing" : "what to judge the model by is given twice",
            ", wanted one of --data, --text, --hellaswag and --source");
    const Task& task = family_in({o.model, o.base}).task();
    require_options_of(command, task, o.model);
    if (o.probe) return eval_probe(common, o, task);
    commands_of(task).eval(common, o);
}

void add_options(cli::Command& command, EvalOptions& o) {
    command.add_option("--model,model", o.model, "Model directory").required().type_name("DIR");
    add_base_option(command, o.base);
    add_verify_option(command, o.verify);
    command
        .add_option(
            "--data", o.data,
            "Text, token file, or a directory of either; a directory of images; .tsv or .jsonl of pairs, or of texts\n"
            "with labels, or a directory of these")
        .type_name("PATH");
    command
        .add_option("--split", o.split,
                    "Part of the data [val]. Of images, val chooses the best checkpoint in training and test is\n"
                    "reported; all is the default for a folder without splits")
        .check(one_of({"train", "val", "test", "all"}))
        .type_name("train|val|test|all");
    command
        .add_option("--batch-size", o.batch_size,
                    "Sequences (12, with labels 32), images (128) or translations (16) at a time")
        .type_name("N")
        .check(whole(1));
    command.add_flag("--allow-nonfinite", o.allow_nonfinite, "Report a loss that is nan or infinite too");

    command.add_flag("--probe", o.probe,
                     "Instead of the loss: norms, angles, entropy, rank of every attention layer, on the first batch");

    const std::string text = option_group(language_task()), vision = option_group(image_task()),
                      pairs = option_group(translation_task());
    command.add_option("--block-size", o.block_size, "Tokens of a sequence (the model's n_positions)")
        .type_name("N")
        .check(whole(1))
        .group(text);
    command.add_option("--text", o.text, "Instead of --data: a text, or a directory of texts, as one whole")
        .type_name("PATH")
        .group(text);
    command
        .add_flag("--parse-special", o.parse_special,
                  "Names of special tokens in --text, such as <|endoftext|>, are these tokens")
        .needs("--text")
        .group(text);
    command.add_option("--stride", o.stride, "Tokens between windows that slide, with --all or --text (--block-size)")
        .type_name("N")
        .check(whole(1))
        .group(text);
    command.add_option("--iters", o.iters, "Batches drawn at random (200)").type_name("N").check(whole(1)).group(text);
    command.add_flag("--all", o.all, "Instead read the whole split once, in order; images always are")
        .excludes("--iters")
        .group(text);
    command
        .add_option("--hellaswag", o.hellaswag, "Instead of --data: HellaSwag's tasks, .jsonl or groups of six lines")
        .type_name("FILE")
        .group(text);
    command.add_option("--limit", o.limit, "HellaSwag's first N tasks").type_name("N").check(whole(1)).group(text);
    command.add_option("--confusion-matrix", o.confusion_matrix, "Picture to write: what is taken for what")
        .type_name("FILE.png")
        .group(vision);
    add_image_and_pair_options(command, o);
    command.add_flag("--bleu", o.bleu, "Translate the sources, too; BLEU and chrF2 of the translations").group(pairs);
    o.translate.declare(command, pairs);
    for (const char* option : {"--beam-size", "--length-penalty", "--length-penalty-kind", "--max-length"})
        command.option(option).needs("--bleu");
    const auto no_effect = [&](const char* beside, std::initializer_list<const char*> options) {
        for (const char* option : options) command.option(beside).excludes(option);
    };
    no_effect("--text", {"--split", "--iters", "--all"});
    no_effect("--probe", {"--hellaswag", "--iters", "--all", "--allow-nonfinite", "--confusion-matrix", "--bleu"});
    no_effect("--hellaswag", {"--split", "--batch-size", "--block-size", "--stride", "--iters", "--all"});
}

}  // namespace

void require_finite(const EvalOptions& o, const char* name, double value, const std::string& source) {
    if (o.allow_nonfinite || std::isfinite(value)) return;
    throw Error("model ", o.model, ": the ", name, " on ", o.subject(), " is ", value,
                source.empty() ? "" : "; the first number that is not finite: ", source,
                "; --allow-nonfinite reports it all the same");
}

void add_image_and_pair_options(cli::Command& command, EvalOptions& o) {
    const std::string vision = option_group(image_task()), pairs = option_group(translation_task());
    add_statistics_option(command, o.statistics).group(vision);
    add_max_pixels_option(command, o.max_pixels).group(vision);
    command.add_flag("--coarse-labels", o.coarse_labels, "CIFAR-100's 20 coarse labels").group(vision);
    command.add_option("--source", o.source, "Instead of --data: sentences, one on a line")
        .type_name("FILE")
        .group(pairs);
    command.add_option("--target", o.target, "Their translations, line by line")
        .type_name("FILE")
        .needs("--source")
        .group(pairs);
    command.add_option("--fields", o.fields, "Names of the fields of --data's objects, if it is a .jsonl file")
        .type_name("SOURCE,TARGET")
        .capture_default_str()
        .excludes("--source")
        .group(pairs);
    command.add_option("--label-fields", o.label_fields, "Names of the fields of --data's objects, if they are .jsonl")
        .type_name("TEXT,LABEL")
        .capture_default_str()
        .group(option_group(sequence_task()));
}

void add_eval(cli::Command& app, Common& common) {
    cli::Command& command =
        app.add_subcommand("eval", "Loss of a model on data, HellaSwag; accuracy on images and texts with labels");
    auto options = std::make_shared<EvalOptions>();
    add_options(command, *options);
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer eval --model out --data input.txt\n"
        "  vkformer eval --model out --data data/ --all --json\n"
        "  vkformer eval --model out --text input.txt --stride 8\n"
        "  vkformer eval --model out --data input.txt --probe\n"
        "  vkformer eval --model out --hellaswag hellaswag_val.jsonl --limit 500\n"
        "  vkformer eval --model vit/best --data data/cifar10 --confusion-matrix confusion.png\n"
        "  vkformer eval --model classifier/best --data data/listops --split test\n"
        "  vkformer eval --model translator --source test.en --target test.de --bleu\n");
    command.callback([&command, options, &common] { run(command, common, *options); });
}

}  // namespace vkf
