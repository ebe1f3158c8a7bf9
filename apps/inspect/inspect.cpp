// vkformer inspect: parameters, work and memory of a model, part by part, before anything runs.

#include "apps/inspect/inspect.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "apps/model.h"
#include "apps/tasks.h"
#include "apps/train/run_options.h"
#include "models/train/optimizer.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

InspectedModel inspected_directory(const InspectOptions& o, Format activations) {
    InspectedModel model = commands_of(family_in({o.model, o.base}).task()).inspect(o, activations);
    model.trainer.optimizer.kind = optimizer_named(o.optimizer);
    model.trainer.activations = activations;
    return model;
}

void add_model_options(cli::Command& command, InspectOptions& o) {
    command.add_option("--model,model", o.model, "Model directory").type_name("DIR");
    add_base_option(command, o.base);
    command.add_option("--batch-size", o.batch_size, "Sequences or images at a time")
        .type_name("N")
        .check(whole(1))
        .capture_default_str();
    command.add_option("--block-size", o.block_size, "Tokens of a sequence (n_positions)")
        .type_name("N")
        .check(whole(1));
    command.add_option("--optimizer", o.optimizer, "How parameters are updated")
        .check(one_of({"adamw", "setadam", "sgd"}))
        .type_name("adamw|setadam|sgd")
        .capture_default_str();
    add_view_options(command, o.view);
}

}  // namespace

void require_buildable(ModelConfig config) {
    check_limits(config.fields());
    validate(config);
}

void add_view_options(cli::Command& command, InspectView& view) {
    command.add_flag("--plan", view.plan, "The memory plan of a training step: its largest tensors");
    command.add_option("--top", view.top, "Tensors that --plan lists")
        .type_name("N")
        .check(whole(1))
        .needs("--plan")
        .capture_default_str();
    command.add_flag("--explain", view.explain,
                     "Parameters, FLOPs and memory by formula (12·l·h² …) beside the exact numbers");
    command.add_flag("--fit", view.fit,
                     "The largest batch, context and model that the device's free memory holds, found without running");
    command
        .add_option_function(
            "--memory", [&view](const std::vector<std::string>& words) { view.memory = read_bytes(words.back()); },
            "Memory for --fit, instead of the device's: 24GiB")
        .type_name("SIZE")
        .take_last()
        .check(byte_size())
        .needs("--fit");
    command.add_flag("--by-op", view.by_op, "The launches of a training step, op by op");
    command.add_flag("--types", view.types, "What a training step keeps in fp32 with --precision mixed, and why");
    command.add_flag("--graph", view.graph, "Instead every node of the training step");
}

void require_fresh(const RunOptions& o) {
    require(o.origin().empty(), "--", o.resume ? "resume" : "init-from",
            " has no effect on what the flags describe; of a model there is, `inspect --model` tells");
}

std::string inspect_example(const Family& family, const char* options) {
    return text("Example:\n  vkformer inspect ", family.command, " --config ", family.recipe, options, "\n");
}

void inspect(const Common& common, const InspectView& view, const InspectedModel& model) {
    require(!view.types || model.trainer.activations != Format::f32,
            "--types tells what stays fp32 beside 16 bits: it wants --precision mixed");
    // Kernels and their temporaries depend on the device, but the numbers need no device.
    const bool needs_device = view.fit && !view.memory;
    if (wanted_device(common).empty() && !needs_device)
        return report_inspection(common, view, model, [](const Graph&) { return DeviceTraits(); },
                                 {.bytes = view.memory.value_or(0)});
    with_device(common, [&](Device& device) {
        InspectedModel at = model;
        at.trainer = with_device_defaults(at.trainer, device);
        const Room room{.bytes = view.memory.value_or(static_cast<std::int64_t>(device.free_bytes())),
                        .buffer = static_cast<std::int64_t>(device.info().max_buffer_bytes),
                        .device = device.info().name};
        report_inspection(
            common, view, at, [&](const Graph& graph) { return traits(device, graph); }, room);
    });
}

void add_inspect(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("inspect", "Parameters, FLOPs and memory per part; the memory plan");
    auto options = std::make_shared<InspectOptions>();
    add_model_options(command, *options);
    add_common(command, common);
    for (const Family* family : families()) commands_of(family->task()).add_inspect(command, common, *family);
    command.footer(
        "Examples:\n"
        "  vkformer inspect --model out --batch-size 8\n"
        "  vkformer inspect gpt --n-layer 12 --n-head 12 --n-embd 768 --attention belief-star --plan\n"
        "  vkformer inspect gpt --n-layer 12 --n-head 12 --n-embd 768 --explain\n"
        "  vkformer inspect llama --precision mixed --fit --memory 24GiB\n"
        "  vkformer inspect vit --config configs/sl-cifar10.toml\n");
    command.callback([&command, options, &common] {
        if (command.chosen_subcommand()) return;
        std::vector<std::string> commands;
        for (const Family* family : families()) commands.emplace_back(family->command);
        require(!options->model.empty(), "--model is missing: a model directory; or ", listed(commands),
                " with their options");
        inspect(common, options->view, inspected_directory(*options, common.activations()));
    });
}

}  // namespace vkf
