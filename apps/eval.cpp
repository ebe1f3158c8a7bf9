// vkformer eval: how good a model is on data.

#include "apps/eval.h"

#include <cmath>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/image_options.h"
#include "apps/model.h"
#include "apps/option_values.h"

namespace vkf {

namespace {

void run(const Common& common, const EvalOptions& o) {
    const auto only = [&](bool given, const char* option, const char* kind) {
        require(!given, option, " is for ", kind, "; ", o.model, " is none");
    };
    if (family_in(o.model).images()) {
        only(o.block_size.has_value(), "--block-size", "language models");
        only(o.iters.has_value(), "--iters", "language models");
        return eval_images(common, o);
    }
    only(!o.statistics.empty(), "--statistics", "vision models");
    only(o.coarse_labels, "--coarse-labels", "vision models");
    only(!o.confusion_matrix.empty(), "--confusion-matrix", "vision models");
    eval_language(common, o);
}

void add_options(CLI::App& command, EvalOptions& o) {
    command.add_option("--model,model", o.model, "Model directory")->required()->type_name("DIR");
    command.add_option("--data", o.data, "Text, token file, or a directory of either; a directory of images")
        ->required()
        ->type_name("PATH");
    command.add_option("--split", o.split, "Part of the data; of images val is the test images")
        ->check(one_of({"train", "val"}))
        ->type_name("train|val")
        ->capture_default_str();
    command.add_option("--batch-size", o.batch_size, "Sequences (12) or images (128) at a time")
        ->type_name("N")
        ->check(whole(1));
    command.add_flag("--allow-nonfinite", o.allow_nonfinite, "Report a loss that is nan or infinite too");

    const std::string text = "Language models", vision = "Vision models";
    command.add_option("--block-size", o.block_size, "Tokens of a sequence (the model's n_positions)")
        ->type_name("N")
        ->check(whole(1))
        ->group(text);
    auto* iters = command.add_option("--iters", o.iters, "Batches drawn at random (200)")
                      ->type_name("N")
                      ->check(whole(1))
                      ->group(text);
    command.add_flag("--all", o.all, "Instead read the whole split once, in order; images always are")
        ->excludes(iters)
        ->group(text);
    command.add_option("--confusion-matrix", o.confusion_matrix, "Picture to write: what is taken for what")
        ->type_name("FILE.png")
        ->group(vision);
    add_statistics_option(command, o.statistics)->group(vision);
    command.add_flag("--coarse-labels", o.coarse_labels, "CIFAR-100's 20 coarse labels")->group(vision);
}

}  // namespace

void require_finite(const EvalOptions& o, const char* name, double value, const std::string& source) {
    if (o.allow_nonfinite || std::isfinite(value)) return;
    throw Error("model ", o.model, ": the ", name, " on ", o.data, " is ", value,
                source.empty() ? "" : "; the first number that is not finite: ", source,
                "; --allow-nonfinite reports it all the same");
}

void add_eval(CLI::App& app, Common& common) {
    CLI::App* command = app.add_subcommand("eval", "Loss of a model on data; accuracy and confusions on images");
    auto options = std::make_shared<EvalOptions>();
    add_options(*command, *options);
    add_common(*command, common);
    command->footer(
        "Examples:\n"
        "  vkformer eval --model out --data input.txt\n"
        "  vkformer eval --model out --data data/ --all --json\n"
        "  vkformer eval --model vit/best --data data/cifar10 --confusion-matrix confusion.png\n");
    command->callback([options, &common] { run(common, *options); });
}

}  // namespace vkf
