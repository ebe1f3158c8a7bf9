// vkformer inspect: parameters, work and memory of a model, part by part, before anything runs.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/image_options.h"
#include "apps/inspect_report.h"
#include "apps/language_options.h"
#include "apps/model.h"
#include "apps/option_values.h"
#include "models/files/config_json.h"
#include "models/image_model.h"
#include "models/language_model.h"
#include "models/train/optimizer.h"
#include "program/program.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

/// Throws InputError where the configuration cannot be built.
InspectedModel inspected(ModelConfig config, std::int64_t batch) {
    check_limits(config.fields());
    validate(config);
    return {.config_text = config_json_text(config), .batch_size = batch};
}

InspectedModel inspected_language_model(const ModelConfig& config, std::int64_t batch, std::int64_t block,
                                        Format activations) {
    InspectedModel made = inspected(config, batch);
    made.logits = [=](const Scope& scope) {
        return language_logits(scope, config, scope.graph().input("tokens", {DType::i32, {batch, block}}));
    };
    made.loss = [=](const Scope& scope) { return language_loss(scope, config, batch, block); };
    made.items = static_cast<double>(batch * block);
    made.batch = text(batch, " sequences of ", block, " tokens");
    if (config.family().generates()) made.cache = static_cast<double>(cache_bytes(config, activations));
    made.block_size = block;
    return made;
}

InspectedModel inspected_image_model(const ModelConfig& config, std::int64_t batch) {
    InspectedModel made = inspected(config, batch);
    made.logits = [=](const Scope& scope) {
        return image_logits(scope, config, scope.graph().input("images", image_type(config, batch)));
    };
    made.loss = [=](const Scope& scope) { return image_loss(scope, config, batch); };
    made.item = "image";
    made.items = static_cast<double>(batch);
    made.batch = text(batch, " images");
    return made;
}

void inspect(const Common& common, const InspectView& view, const InspectedModel& model) {
    require(!view.types || model.trainer.activations != Format::f32,
            "--types tells what stays fp32 beside 16 bits: it wants --precision mixed");
    // Kernels and their temporaries differ with the device, but none is needed for the numbers.
    if (wanted_device(common).empty())
        return report_inspection(common, view, model, [](const Graph&) { return DeviceTraits(); });
    with_device(common, [&](Device& device) {
        InspectedModel at = model;
        at.trainer = with_device_defaults(at.trainer, device);
        report_inspection(common, view, at, [&](const Graph& graph) { return traits(device, graph); });
    });
}

void add_view_options(CLI::App& command, InspectView& view) {
    command.add_flag("--plan", view.plan, "The memory plan of a training step: its largest tensors");
    command.add_option("--top", view.top, "Tensors that --plan lists")
        ->type_name("N")
        ->check(whole(1))
        ->needs("--plan")
        ->capture_default_str();
    command.add_flag("--by-op", view.by_op, "The launches of a training step, op by op");
    command.add_flag("--types", view.types, "What a training step keeps in fp32 with --precision mixed, and why");
    command.add_flag("--graph", view.graph, "Instead every node of the training step");
}

// --- A model directory ---------------------------------------------------------------------------

struct ModelOptions {
    std::string model, base, optimizer = "adamw";
    std::int64_t batch_size = 12;
    std::optional<std::int64_t> block_size;
    InspectView view;
};

InspectedModel inspected_directory(const ModelOptions& o, Format activations) {
    const auto made = [&] {
        const Family& family = family_in({o.model, o.base});
        if (family.images()) {
            require(!o.block_size, "--block-size is for language models, ", o.model, " is a ", family.command);
            return inspected_image_model(open_image_model({o.model}, false).config, o.batch_size);
        }
        const ModelConfig config = open_untokenized_model({o.model, o.base}, false).config;
        const std::int64_t block = o.block_size.value_or(config.size(Dimension::context));
        return inspected_language_model(config, o.batch_size, block, activations);
    };
    InspectedModel model = made();
    model.trainer.optimizer.kind = optimizer_named(o.optimizer);
    model.trainer.activations = activations;
    return model;
}

void add_model_options(CLI::App& command, ModelOptions& o) {
    command.add_option("--model,model", o.model, "Model directory")->type_name("DIR");
    add_base_option(command, o.base);
    command.add_option("--batch-size", o.batch_size, "Sequences or images at a time")
        ->type_name("N")
        ->check(whole(1))
        ->capture_default_str();
    command.add_option("--block-size", o.block_size, "Tokens of a sequence (n_positions)")
        ->type_name("N")
        ->check(whole(1));
    command.add_option("--optimizer", o.optimizer, "How parameters are updated")
        ->check(one_of({"adamw", "setadam", "sgd"}))
        ->type_name("adamw|setadam|sgd")
        ->capture_default_str();
    add_view_options(command, o.view);
}

// --- What a training command would make ----------------------------------------------------------

/// What starts from a model is that model's size, whatever the flags say.
void require_fresh(const RunOptions& o) {
    require(o.origin().empty(), "--", o.resume ? "resume" : "init-from",
            " has no effect on what the flags describe; of a model there is, `inspect --model` tells");
}

/// An example for the help of `inspect FAMILY`.
std::string example(const Family& family, const char* options) {
    return text("Example:\n  vkformer inspect ", family.command, " --config ", family.recipe, options, "\n");
}

void add_language(CLI::App& inspect_command, Common& common, const Family& family) {
    struct Options : LanguageRunOptions {
        using LanguageRunOptions::LanguageRunOptions;
        InspectView view;
    };
    const std::string name(family.command);
    CLI::App* command = inspect_command.add_subcommand(name, "What `train " + name + "` would make with these options");
    auto o = std::make_shared<Options>(family);
    o->declare(*command);
    add_view_options(*command, o->view);
    add_common(*command, common);
    command->footer(example(family, " --vocab-size 65 --attention belief-star --plan"));
    command->callback([o, &common] {
        o->settle(common);
        require_fresh(*o);
        o->check();
        // Without data the vocabulary is that of the family's own models.
        const ModelConfig config = o->fresh_model(o->family().defaults().size(Dimension::vocab_size));
        InspectedModel model = inspected_language_model(config, o->batch_size, o->block_size, common.activations());
        model.trainer = o->trainer;
        model.train_toml = o->toml();
        inspect(common, o->view, model);
    });
}

void add_images(CLI::App& inspect_command, Common& common, const Family& family) {
    struct Options : ImageRunOptions {
        using ImageRunOptions::ImageRunOptions;
        InspectView view;
        std::int64_t num_labels = 10;
    };
    const std::string name(family.command);
    CLI::App* command = inspect_command.add_subcommand(name, "What `train " + name + "` would make with these options");
    auto o = std::make_shared<Options>(family);
    o->image_size = 32;
    o->declare(*command);
    command->add_option("--num-labels", o->num_labels, "Classes")
        ->type_name("N")
        ->check(whole(1))
        ->capture_default_str();
    add_view_options(*command, o->view);
    add_common(*command, common);
    command->footer(example(family, " --num-labels 100 --attention belief-star"));
    command->callback([o, &common] {
        o->settle(common);
        require_fresh(*o);
        o->check();
        const ModelConfig config = o->fresh_model(o->image_size > 0 ? o->image_size : 32, o->num_labels);
        InspectedModel model = inspected_image_model(config, o->batch_size);
        model.trainer = o->trainer;
        model.train_toml = o->toml();
        inspect(common, o->view, model);
    });
}

}  // namespace

void add_inspect(CLI::App& app, Common& common) {
    CLI::App* command = app.add_subcommand("inspect", "Parameters, FLOPs and memory per part; the memory plan");
    auto options = std::make_shared<ModelOptions>();
    add_model_options(*command, *options);
    add_common(*command, common);
    for (const Family* family : families()) (family->images() ? add_images : add_language)(*command, common, *family);
    command->footer(
        "Examples:\n"
        "  vkformer inspect --model out --batch-size 8\n"
        "  vkformer inspect gpt --n-layer 12 --n-head 12 --n-embd 768 --attention belief-star --plan\n"
        "  vkformer inspect vit --config configs/sl-cifar10.toml\n");
    command->callback([command, options, &common] {
        if (!command->get_subcommands().empty()) return;
        std::vector<std::string> commands;
        for (const Family* family : families()) commands.emplace_back(family->command);
        require(!options->model.empty(), "--model is missing: a model directory; or ", listed(commands),
                " with their options");
        inspect(common, options->view, inspected_directory(*options, common.activations()));
    });
}

}  // namespace vkf
