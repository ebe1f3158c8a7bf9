// vkformer inspect: parameters, work and memory of a model, part by part, before anything runs.

#include <algorithm>
#include <functional>
#include <optional>

#include "apps/analysis.h"
#include "apps/commands.h"
#include "apps/common.h"
#include "apps/image_options.h"
#include "apps/inspect_types.h"
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

using nlohmann::ordered_json;

/// How much is to be seen.
struct View {
    bool plan = false, types = false, graph = false;
    std::int64_t top = 20;

    void declare(CLI::App& command) {
        command.add_flag("--plan", plan, "The memory plan of a training step: its largest tensors");
        command.add_option("--top", top, "Tensors that --plan lists")
            ->type_name("N")
            ->check(whole(1))
            ->needs("--plan")
            ->capture_default_str();
        command.add_flag("--types", types, "What a training step keeps in fp32 with --precision mixed, and why");
        command.add_flag("--graph", graph, "Instead every node of the training step");
    }
};

/// A model of either kind of task: how its graphs are described and what its work is counted in.
struct Subject {
    std::string config_text, train_toml;  // the latter of what a training command would make
    TrainerConfig trainer;
    std::int64_t batch_size = 0;
    std::function<Tensor(const Scope&)> logits, loss;  // with their inputs
    const char* item = "token";
    double items = 0;   // in a micro-batch
    std::string batch;  // for people
    double cache = 0;   // bytes of keys and values of one sequence
    std::int64_t block_size = 0;

    double items_in_step() const { return items * static_cast<double>(trainer.gradient_accumulation_steps); }
};

/// Throws InputError where the configuration cannot be built.
Subject subject_of(ModelConfig config, std::int64_t batch) {
    check_makeable(config.fields());
    validate(config);
    return {.config_text = config_json_text(config), .batch_size = batch};
}

Subject language_subject(const ModelConfig& config, std::int64_t batch, std::int64_t block, Format activations) {
    Subject made = subject_of(config, batch);
    made.logits = [=](const Scope& scope) {
        return language_logits(scope, config, scope.graph().input("tokens", {DType::i32, {batch, block}}));
    };
    made.loss = [=](const Scope& scope) { return language_loss(scope, config, batch, block); };
    made.items = static_cast<double>(batch * block);
    made.batch = text(batch, " sequences of ", block, " tokens");
    made.cache = static_cast<double>(cache_bytes(config, activations));
    made.block_size = block;
    return made;
}

Subject image_subject(const ModelConfig& config, std::int64_t batch) {
    Subject made = subject_of(config, batch);
    made.logits = [=](const Scope& scope) {
        return image_logits(scope, config, scope.graph().input("images", image_type(config, batch)));
    };
    made.loss = [=](const Scope& scope) { return image_loss(scope, config, batch); };
    made.item = "image";
    made.items = static_cast<double>(batch);
    made.batch = text(batch, " images");
    return made;
}

struct Part {
    std::string name;
    std::int64_t parameters = 0;
    double forward = 0, step = 0;  // FLOPs of a batch and of an update
};

/// Parameters and work by part, in the order of the model.
std::vector<Part> parts(const Parameters& parameters, const Analysis& forward, const Analysis& step) {
    std::vector<Part> list;
    const auto part = [&](const std::string& name) -> Part& {
        const auto found = std::ranges::find(list, name, &Part::name);
        return found != list.end() ? *found : list.emplace_back(Part{name});
    };
    for (const Parameter& parameter : parameters.list()) {
        const std::string layer = parameter.name.substr(0, parameter.name.rfind('.'));
        part(part_of(layer)).parameters += parameter.shape.elements();
    }
    for (const NodeCost& cost : forward.costs) part(cost.part).forward += cost.flops;
    for (const NodeCost& cost : step.costs) part(cost.part).step += cost.flops;
    return list;
}

ordered_json memory(const Analysis& a) {
    return {{"total", a.bytes()},       {"arena", a.arena},          {"arena_bound", a.bound}, {"states", a.states},
            {"constants", a.constants}, {"inputs", a.inputs},        {"outputs", a.outputs},   {"tables", a.tables},
            {"gradients", a.gradients}, {"dispatches", a.dispatches}};
}

ordered_json plan_document(const Analysis& a) {
    auto list = ordered_json::array();
    for (const Resident& r : a.residents) {
        const auto extents = r.shape.extents();
        list.push_back({{"scope", r.scope},
                        {"op", r.op},
                        {"shape", std::vector(extents.begin(), extents.end())},
                        {"bytes", r.bytes},
                        {"offset", r.offset},
                        {"first", r.first},
                        {"last", r.last}});
    }
    return list;
}

std::string plan_text(const Analysis& a, std::size_t top) {
    std::vector<std::vector<std::string>> rows{{"bytes", "offset", "first node", "last node", "shape", "made by"}};
    for (const Resident& r : a.residents) {
        if (rows.size() > top) break;
        rows.push_back({bytes_text(static_cast<double>(r.bytes)), text(r.offset), text(r.first), text(r.last),
                        text(r.shape), r.scope + (r.scope.empty() ? "" : ": ") + r.op});
    }
    return text("\nThe ", rows.size() - 1, " largest of ", a.residents.size(), " tensors of a training step\n",
                table(rows));
}

std::string parts_text(const std::vector<Part>& list, const Subject& subject) {
    const std::string per_item = text("FLOPs/", subject.item);
    std::vector<std::vector<std::string>> rows{{"part", "parameters", per_item + " forward", per_item + " training"}};
    Part total{"total"};
    const auto add = [&](const Part& p) {
        rows.push_back({p.name, text(p.parameters), count_text(p.forward / subject.items),
                        count_text(p.step / subject.items_in_step())});
    };
    for (const Part& p : list) {
        add(p);
        total.parameters += p.parameters, total.forward += p.forward, total.step += p.step;
    }
    add(total);
    return table(rows);
}

std::string memory_text(const Analysis& forward, const Analysis& step, double cache) {
    const auto bytes = [](std::int64_t n) { return bytes_text(static_cast<double>(n)); };
    const auto row = [&](const char* name, std::int64_t Analysis::*member) {
        return std::vector{std::string(name), bytes(forward.*member), bytes(step.*member)};
    };
    return table({{"memory", "inference", "training"},
                  {"total", bytes(forward.bytes()), bytes(step.bytes())},
                  row("states (parameters, moments)", &Analysis::states),
                  row("constants", &Analysis::constants),
                  row("arena (activations)", &Analysis::arena),
                  row("arena, least possible", &Analysis::bound),
                  row("inputs", &Analysis::inputs),
                  row("outputs", &Analysis::outputs),
                  row("tables of arguments", &Analysis::tables),
                  row("among these, gradients", &Analysis::gradients)}) +
           (cache > 0 ? "keys and values of one sequence in generation: " + bytes_text(cache) + "\n" : "");
}

void report(const Common& common, const View& view, const Subject& subject, const DeviceTraits& device) {
    Graph inference;
    inference.activations = common.activations();
    Parameters parameters;
    inference.output("logits", subject.logits(Scope(inference, parameters)));
    StepGraphs training(subject.loss, subject.trainer);
    const Analysis forward = analyse(inference, device), step = analyse(training, device);
    const std::vector<Part> list = parts(parameters, forward, step);
    const std::string graph = training.step.dump() + (training.update ? training.update->dump() : "");
    const std::int64_t micro_batches = subject.trainer.gradient_accumulation_steps;
    const std::string_view optimizer = name_of(subject.trainer.optimizer.kind);
    if (!common.json) {
        if (view.graph) return print(graph);
        print(text(parts_text(list, subject), "\n", micro_batches > 1 ? text(micro_batches, " batches") : "A batch",
                   " of ", subject.batch, ", ", optimizer, ": ", count_text(step.flops), " FLOPs a step in ",
                   step.dispatches, " dispatches\n\n", memory_text(forward, step, subject.cache)));
        if (view.types) print(types_text(step));
        return view.plan ? print(plan_text(step, static_cast<std::size_t>(view.top))) : void();
    }
    const std::string per_item = text("flops_per_", subject.item);
    ordered_json document{{"config", ordered_json::parse(subject.config_text)},
                          {"parameters", parameters.count()},
                          {"batch_size", subject.batch_size}};
    if (subject.block_size > 0) document["block_size"] = subject.block_size;
    document["gradient_accumulation_steps"] = micro_batches;
    document["optimizer"] = optimizer;
    document["recompute"] = subject.trainer.recompute;
    document[per_item + "_forward"] = forward.flops / subject.items;
    document[per_item + "_training"] = step.flops / subject.items_in_step();
    document["flops_per_step"] = step.flops;
    for (const Part& p : list)
        document["parts"].push_back(
            {{"part", p.name}, {"parameters", p.parameters}, {"flops_forward", p.forward}, {"flops_training", p.step}});
    document["memory"] = {{"inference", memory(forward)}, {"training", memory(step)}, {"cache", subject.cache}};
    if (!subject.train_toml.empty()) document["train_toml"] = subject.train_toml;
    if (view.plan) document["plan"] = plan_document(step);
    if (view.types) document["types"] = types_document(step);
    if (view.graph) document["graph"] = graph;
    print_json(document);
}

void inspect(const Common& common, const View& view, const Subject& subject) {
    require(!view.types || subject.trainer.activations != Format::f32,
            "--types tells what stays fp32 beside 16 bits: it wants --precision mixed");
    // Kernels and their temporaries differ with the device, but none is needed for the numbers.
    if (wanted_device(common).empty()) return report(common, view, subject, DeviceTraits());
    with_device(common, [&](Device& device) {
        Subject at = subject;
        at.trainer = suited(at.trainer, device);
        report(common, view, at, traits(device));
    });
}

// --- A model directory ---------------------------------------------------------------------------

struct ModelOptions {
    std::string model, optimizer = "adamw";
    std::int64_t batch_size = 12;
    std::optional<std::int64_t> block_size;
    View view;
};

Subject subject_of(const ModelOptions& o, Format activations) {
    const auto made = [&] {
        const Family& family = family_in(o.model);
        if (family.images()) {
            require(!o.block_size, "--block-size is for language models, ", o.model, " is a ", family.command);
            return image_subject(open_image_model(o.model, false).config, o.batch_size);
        }
        const ModelConfig config = open_language_model(o.model, false).config;
        const std::int64_t block = o.block_size.value_or(config.size(Dimension::context));
        return language_subject(config, o.batch_size, block, activations);
    };
    Subject subject = made();
    subject.trainer.optimizer.kind = optimizer_named(o.optimizer);
    subject.trainer.activations = activations;
    return subject;
}

void add_model_options(CLI::App& command, ModelOptions& o) {
    command.add_option("--model,model", o.model, "Model directory")->type_name("DIR");
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
    o.view.declare(command);
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
        View view;
    };
    const std::string name(family.command);
    CLI::App* command = inspect_command.add_subcommand(name, "What `train " + name + "` would make with these options");
    auto o = std::make_shared<Options>(family);
    o->declare(*command);
    o->view.declare(*command);
    add_common(*command, common);
    command->footer(example(family, " --vocab-size 65 --attention belief-star --plan"));
    command->callback([o, &common] {
        o->settle(common);
        require_fresh(*o);
        o->check();
        // Without data the vocabulary is that of the family's own models.
        const ModelConfig config = o->fresh_model(o->family().defaults().size(Dimension::vocab_size));
        Subject subject = language_subject(config, o->batch_size, o->block_size, common.activations());
        subject.trainer = o->trainer;
        subject.train_toml = o->toml();
        inspect(common, o->view, subject);
    });
}

void add_images(CLI::App& inspect_command, Common& common, const Family& family) {
    struct Options : ImageRunOptions {
        using ImageRunOptions::ImageRunOptions;
        View view;
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
    o->view.declare(*command);
    add_common(*command, common);
    command->footer(example(family, " --num-labels 100 --attention belief-star"));
    command->callback([o, &common] {
        o->settle(common);
        require_fresh(*o);
        o->check();
        const ModelConfig config = o->fresh_model(o->image_size > 0 ? o->image_size : 32, o->num_labels);
        Subject subject = image_subject(config, o->batch_size);
        subject.trainer = o->trainer;
        subject.train_toml = o->toml();
        inspect(common, o->view, subject);
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
        inspect(common, options->view, subject_of(*options, common.activations()));
    });
}

}  // namespace vkf
