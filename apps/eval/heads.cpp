// vkformer heads: what a model's attention heads do, what each is worth, and the model without some of them.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "apps/eval/head_report.h"
#include "apps/eval/head_study.h"
#include "apps/tasks.h"
#include "apps/train/image_options.h"
#include "base/files/file.h"
#include "models/files/config_json.h"
#include "models/files/held_files.h"
#include "models/files/weights.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct HeadsOptions : EvalOptions {
    std::int64_t batches = 8;
    bool importance = false;
    std::int64_t prune = 0;
    std::string out_dir, plots;
    bool overwrite = false;
};

/// Throws InputError if a picture would replace a file.
void require_free_pictures(const HeadsOptions& o, const std::vector<HeadLayer>& layers) {
    std::error_code ignored;
    for (const std::string& name : heads_picture_names(layers)) {
        const fs::path made = fs::path(o.plots) / name;
        require(o.overwrite || !fs::exists(made, ignored), made.string(), " is there already; --overwrite replaces it");
    }
}

void write_pictures(const HeadsOptions& o, const HeadResults& results) {
    std::error_code error;
    fs::create_directories(o.plots, error);
    if (error) throw Error(o.plots, ": cannot make the directory: ", error.message());
    for (const auto& [name, svg] : heads_pictures(results)) write_atomically(fs::path(o.plots) / name, svg);
}

/// Loss without each head alone.
std::vector<HeadLoss> losses_without_one(const Common& common, HeadStudy& study) {
    const std::vector<Head> heads = study.pruning().left();
    std::vector<HeadLoss> losses;
    Progress progress(common, "heads alone", "batches", std::ssize(heads) * study.batches());
    std::int64_t done = 0;
    for (const Head& head : heads) {
        study.pruning().prune(head);
        losses.push_back({head, study.loss([&] {
                              progress.update(++done);
                              stop_if_interrupted();
                          })});
        study.pruning().restore(head);
    }
    return losses;
}

/// Prunes the heads without which the loss is least, one after the other, and returns the loss after each.
std::vector<HeadLoss> prune_least_important(const Common& common, HeadStudy& study, std::vector<HeadLoss> importance,
                                            std::int64_t count) {
    std::ranges::stable_sort(importance, {}, &HeadLoss::loss);
    importance.resize(static_cast<std::size_t>(count));
    Progress progress(common, "pruning", "batches", count * study.batches());
    std::int64_t done = 0;
    for (HeadLoss& at : importance) {
        study.pruning().prune(at.head);
        at.loss = study.loss([&] {
            progress.update(++done, text("loss ", fixed(at.loss, 4)));
            stop_if_interrupted();
        });
    }
    return importance;
}

HeadResults study_heads(const Common& common, const HeadsOptions& o, HeadStudy& study) {
    HeadResults results{.layers = study.layers()};
    const std::vector<Head> left = study.pruning().left();
    require(o.prune < std::ssize(left) || o.prune == 0, "--prune is ", o.prune, ", and the model has ", left.size(),
            " heads, of which one must stay");
    for (std::size_t layer = 0; layer < results.layers.size(); ++layer)
        for (std::int64_t head = 0; head < results.layers[layer].heads; ++head)
            if (study.pruning().pruned({layer, head})) results.lost_before.push_back({layer, head});
    {
        Progress progress(common, "heads", "batches", 2 * study.batches());
        std::int64_t done = 0;
        const auto step = [&] {
            progress.update(++done);
            stop_if_interrupted();
        };
        results.statistics = study.look(step);
        results.loss = study.loss(step);
    }
    results.first_sequence = study.first_sequence();
    if (o.importance || o.prune > 0) results.without = losses_without_one(common, study);
    if (o.prune > 0) results.pruned = prune_least_important(common, study, results.without, o.prune);
    return results;
}

/// Fills a folder with the model as the study has left it.
void write_model(const fs::path& folder, const ModelEvaluation& evaluation, const HeadStudy& study) {
    write_atomically(folder / "config.json", config_json_text(evaluation.model->config));
    for (const auto& [name, content] : evaluation.side_files) write_atomically(folder / name, content);
    std::vector<std::string> names;
    for (const Parameter& parameter : study.parameters().list()) names.push_back(parameter.name);
    write_safetensors(folder / "model.safetensors", state_sources(study.state(), names));
}

void run_heads(const cli::Command& command, const Common& common, const HeadsOptions& given) {
    HeadsOptions o = given;
    const int subjects = !o.data.empty() + !o.text.empty() + !o.source.empty();
    require(subjects == 1,
            "heads: ", subjects == 0 ? "--data is missing" : "the data that heads are judged by are given twice",
            ", wanted one of --data, --text and --source");
    require(!holds_adapters(o.model), o.model, " holds adapters; `vkformer merge` makes a whole model of them");
    const Task& task = family_in({o.model, o.base}).task();
    require_options_of(command, task, o.model);
    o.iters = o.text.empty() ? std::optional(o.batches) : std::nullopt;
    const ModelEvaluation evaluation = commands_of(task).evaluation(common, o);
    if (!o.plots.empty()) require_free_pictures(o, layers_of(evaluation));
    std::optional<ClaimedDirectory> out;
    if (!o.out_dir.empty()) {
        std::vector<fs::path> inputs;
        for (const std::string* input : {&o.data, &o.text, &o.source, &o.target})
            if (!input->empty()) inputs.emplace_back(*input);
        out.emplace(claim_directory(o.out_dir, o.overwrite, inputs));
        require_apart(o.out_dir, o.model);
    }
    catch_interrupts();
    HeadResults results;
    with_device(common, [&](Device& device) {
        HeadStudy study(device, common.activations(), evaluation, static_cast<std::uint64_t>(o.batches));
        results = study_heads(common, o, study);
        if (out) out->publish([&](const fs::path& folder) { write_model(folder, evaluation, study); });
    });
    if (!o.plots.empty()) write_pictures(o, results);
    if (!common.json) return print(heads_text(results));
    nlohmann::ordered_json document = heads_document(results);
    if (!o.out_dir.empty()) document["out_dir"] = o.out_dir;
    print_json(document);
}

void add_data_options(cli::Command& command, HeadsOptions& o) {
    command
        .add_option("--data", o.data,
                    "Text, token file, or a directory of either; a directory of images; .tsv or .jsonl of pairs")
        .type_name("PATH");
    command.add_option("--split", o.split, "Part of the data [val]; of a folder of images without splits, all")
        .check(one_of({"train", "val", "test", "all"}))
        .type_name("train|val|test|all");
    command.add_option("--batches", o.batches, "Batches of the data that heads are judged by")
        .type_name("N")
        .check(whole(1))
        .capture_default_str();
    command.add_option("--batch-size", o.batch_size, "Sequences (12) or images (128) in a batch")
        .type_name("N")
        .check(whole(1));
    const std::string text = option_group(language_task());
    command.add_option("--block-size", o.block_size, "Tokens of a sequence (the model's n_positions)")
        .type_name("N")
        .check(whole(1))
        .group(text);
    command.add_option("--text", o.text, "Instead of --data: a text, or a directory of texts, as one whole")
        .type_name("PATH")
        .excludes("--split")
        .group(text);
    add_image_and_pair_options(command, o);
}

}  // namespace

void add_heads(cli::Command& app, Common& common) {
    cli::Command& command =
        app.add_subcommand("heads", "Attention heads of a model: what they look at, what they are worth; pruning");
    auto o = std::make_shared<HeadsOptions>();
    command.add_option("--model,model", o->model, "Model directory").required().type_name("DIR");
    add_verify_option(command, o->verify);
    command.add_flag("--importance", o->importance, "Also the loss without each head");
    command
        .add_option("--prune", o->prune,
                    "Prune the N heads without which the loss is least, one by one, and show the loss after each")
        .type_name("N")
        .check(whole(1));
    command.add_option("--out-dir", o->out_dir, "Directory for the pruned model").type_name("DIR").needs("--prune");
    command.add_option("--plots", o->plots, "Directory for pictures: maps of each head, rollout, spectrum, pruning")
        .type_name("DIR");
    command.add_flag("--overwrite", o->overwrite, "Replace pictures in --plots, and the model in --out-dir");
    add_data_options(command, *o);
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer heads --model out --data input.txt\n"
        "  vkformer heads --model out --data input.txt --prune 4 --out-dir pruned --plots pictures\n"
        "\n"
        "A head's role is what nearly all tokens do in it: look at themselves (diagonal), at the token before or\n"
        "after, at one token of the sequence, or at the rarest. Confidence is the mean greatest weight, entropy that\n"
        "of the weights in nats, rank the number of singular values with 90 % of the sum of squares. A pruned head's\n"
        "part of the output map is zero; the model keeps its shape, and training it further may revive the head.\n");
    command.callback([&command, o, &common] { run_heads(command, common, *o); });
}

}  // namespace vkf
