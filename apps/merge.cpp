// vkformer merge: merges adapters and their base model into one model.

#include <filesystem>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/inspect/facts.h"
#include "apps/model.h"
#include "base/files/file.h"
#include "models/files/config_json.h"
#include "models/files/held_files.h"
#include "models/files/merge_adapters.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct MergeOptions {
    std::string adapters, base, out_dir;
    bool overwrite = false, verify = true;
};

void merge(const Common& common, const MergeOptions& o) {
    const LanguageModel model = open_language_model({o.adapters, o.base, o.verify});
    require(model.config.adapters().has_value(), o.adapters,
            ": holds a whole model, wanted adapters to merge into one");
    ClaimedDirectory out = claim_directory(o.out_dir, o.overwrite);
    require_apart(o.out_dir, model.path);
    require_apart(o.out_dir, o.adapters);
    const StoredWeights base = StoredWeights::open(model.path / "model.safetensors");
    const StoredWeights adapters = StoredWeights::open(model.adapters);
    const std::vector<TensorSource> weights = merged_weights(model.config, base, adapters);
    const auto fill = [&](const fs::path& folder) {
        write_atomically(folder / "config.json", config_json_text(model.config));
        for (const auto& [name, content] : model.side_files()) write_atomically(folder / name, content);
        write_safetensors(folder / "model.safetensors", weights);
    };
    out.publish(fill);
    std::uint64_t parameters = 0;
    for (const TensorSource& source : weights) parameters += bytes_of(source.shape, source.type).value_or(0) / 4;
    print_facts(common, {{"out_dir", o.out_dir}, {"base", model.path.string()}, {"parameters", parameters}});
}

}  // namespace

void add_merge(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("merge", "Adapters and the model that they stand beside, as one model");
    auto o = std::make_shared<MergeOptions>();
    command.add_option("adapters", o->adapters, "Directory of adapters").required().type_name("DIR");
    add_base_option(command, o->base);
    add_verify_option(command, o->verify);
    command.add_option("--out-dir", o->out_dir, "Directory to write to").required().type_name("DIR");
    command.add_flag("--overwrite", o->overwrite, "Replace the run, model or data that is there");
    add_common(command, common);
    command.footer(
        "Example:\n"
        "  vkformer merge tuned/best --out-dir merged\n"
        "\n"
        "Writes a model directory: config.json, model.safetensors in F32, the tokenizer's files, and\n"
        "generation_config.json where the base says how to generate.\n");
    command.callback([o, &common] { merge(common, *o); });
}

}  // namespace vkf
