// vkformer inspect: parameters, work and memory of a model, part by part, before anything runs.

#include <algorithm>
#include <functional>

#include "apps/analysis.h"
#include "apps/commands.h"
#include "apps/common.h"
#include "apps/model.h"
#include "models/files/config_keys.h"
#include "models/files/gpt2_config.h"
#include "models/files/vit_config.h"
#include "models/train/optimizer.h"
#include "ops/backward.h"
#include "program/program.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

struct Options {
    std::string model, activation = "gelu", gamma_on = "sum", optimizer = "adamw";
    Gpt2Config config{.bias = false, .attention = {}};  // as nanoGPT trains by default
    std::int64_t batch_size = 12, block_size = 0, top = 20;
    bool plan = false, graph = false;
};

/// A model of either kind: how its graphs are described and what its work is counted in.
struct Subject {
    std::string config_text;
    std::function<Tensor(const Scope&)> logits, loss;  // with their inputs
    const char* item = "token";
    double items = 0;   // in a batch
    std::string batch;  // for people
    double cache = 0;   // bytes of keys and values of one sequence
    std::int64_t block_size = 0;
};

Subject text_subject(const Gpt2Config& c, std::int64_t batch, std::int64_t block) {
    Subject made{gpt2_config_text(c)};
    made.logits = [=](const Scope& scope) {
        return gpt2(scope, c, scope.graph().input("tokens", {DType::i32, {batch, block}}));
    };
    made.loss = [=](const Scope& scope) { return gpt2_loss(scope, c, batch, block); };
    made.items = static_cast<double>(batch * block);
    made.batch = text(batch, " sequences of ", block, " tokens");
    made.cache = 8.0 * static_cast<double>(c.n_layer * c.n_positions * c.n_embd);
    made.block_size = block;
    return made;
}

Subject image_subject(const VitConfig& c, std::int64_t batch) {
    Subject made{vit_config_text(c)};
    made.logits = [=](const Scope& scope) {
        const TensorType images{DType::f32, {batch, c.num_channels, c.image_size, c.image_size}};
        return vit(scope, c, scope.graph().input("images", images));
    };
    made.loss = [=](const Scope& scope) { return vit_loss(scope, c, batch); };
    made.item = "image";
    made.items = static_cast<double>(batch);
    made.batch = text(batch, " images");
    return made;
}

/// The step's graph as Trainer records it without accumulation, or only its forward half.
void describe(Graph& graph, Parameters& parameters, const Subject& subject, const Options& o, bool training) {
    const Scope scope(graph, parameters);
    if (!training) return graph.output("logits", subject.logits(scope));
    const Tensor loss = subject.loss(scope);
    graph.output("loss", loss);
    std::vector<Tensor> list;
    for (const Parameter& parameter : parameters.list()) list.push_back(parameter.tensor);
    const std::vector<Tensor> d = gradients(loss, list);
    graph.scope = "update";
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    const OptimizerConfig config{.kind = optimizer_named(o.optimizer)};
    graph.output("grad_norm", append_update(parameters.list(), d, rates, config));
}

struct Part {
    std::string name;
    std::int64_t parameters = 0;
    double forward = 0, step = 0;  // FLOPs
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
    return {{"total", a.bytes()}, {"arena", a.arena},     {"arena_bound", a.bound},    {"states", a.states},
            {"inputs", a.inputs}, {"outputs", a.outputs}, {"dispatches", a.dispatches}};
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
        rows.push_back(
            {p.name, text(p.parameters), count_text(p.forward / subject.items), count_text(p.step / subject.items)});
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
                  row("arena (activations)", &Analysis::arena),
                  row("arena, least possible", &Analysis::bound),
                  row("inputs", &Analysis::inputs),
                  row("outputs", &Analysis::outputs)}) +
           (cache > 0 ? "keys and values of one sequence in generation: " + bytes_text(cache) + "\n" : "");
}

void report(const Common& common, const Options& o, const Subject& subject, const DeviceTraits& device) {
    Graph forward_graph, step_graph;
    Parameters parameters;
    describe(forward_graph, parameters, subject, o, false);
    describe(step_graph, parameters, subject, o, true);
    const Analysis forward = analyse(forward_graph, device), step = analyse(step_graph, device);
    const std::vector<Part> list = parts(parameters, forward, step);
    if (!common.json) {
        if (o.graph) return print(step_graph.dump());
        print(text(parts_text(list, subject), "\nA batch of ", subject.batch, ", ", o.optimizer, ": ",
                   count_text(step.flops), " FLOPs a step in ", step.dispatches, " dispatches\n\n",
                   memory_text(forward, step, subject.cache)));
        return o.plan ? print(plan_text(step, static_cast<std::size_t>(o.top))) : void();
    }
    const std::string per_item = text("flops_per_", subject.item);
    ordered_json document{{"config", ordered_json::parse(subject.config_text)},
                          {"parameters", parameters.count()},
                          {"batch_size", o.batch_size}};
    if (subject.block_size > 0) document["block_size"] = subject.block_size;
    document["optimizer"] = o.optimizer;
    document[per_item + "_forward"] = forward.flops / subject.items;
    document[per_item + "_training"] = step.flops / subject.items;
    document["flops_per_step"] = step.flops;
    for (const Part& p : list)
        document["parts"].push_back(
            {{"part", p.name}, {"parameters", p.parameters}, {"flops_forward", p.forward}, {"flops_training", p.step}});
    document["memory"] = {{"inference", memory(forward)}, {"training", memory(step)}, {"cache", subject.cache}};
    if (o.plan) document["plan"] = plan_document(step);
    if (o.graph) document["graph"] = step_graph.dump();
    print_json(document);
}

/// What --model or the flags describe.
Subject subject_of(Options o) {
    if (!o.model.empty() && model_type(o.model) == "vit") {
        require(o.block_size == 0, "--block-size is for language models, ", o.model, " is a vit");
        const VitConfig config = open_image_model(o.model, false).config;
        require(config.num_hidden_layers <= 10000, "num_hidden_layers is ", config.num_hidden_layers,
                ", wanted at most 10000");
        return image_subject(config, o.batch_size);
    }
    if (!o.model.empty()) {
        o.config = open_model(o.model, false).config;
    } else {
        o.config.activation = activation_named(o.activation);
        o.config.attention.gamma_on = o.gamma_on == "sum" ? GammaOn::sum : GammaOn::value;
        if (o.block_size > 0) o.config.n_positions = o.block_size;
        validate(o.config);
    }
    require(o.config.n_layer <= 10000, "n_layer is ", o.config.n_layer, ", wanted at most 10000");
    return text_subject(o.config, o.batch_size, o.block_size > 0 ? o.block_size : o.config.n_positions);
}

void run(const Common& common, const Options& o) {
    const Subject subject = subject_of(o);
    // Kernels and their temporaries differ with the device, but none is needed for the numbers.
    if (wanted_device(common).empty()) return report(common, o, subject, DeviceTraits());
    with_device(common, [&](Device& device) { report(common, o, subject, traits(device)); });
}

void add_options(CLI::App& command, Options& o) {
    const auto number = [&](const char* name, std::int64_t& value, const char* help) {
        return command.add_option(name, value, help)->type_name("N")->check(whole(1))->capture_default_str();
    };
    auto* model =
        command.add_option("--model,model", o.model, "Model directory; else the options below")->type_name("DIR");
    std::vector<CLI::Option*> shape{
        number("--vocab-size", o.config.vocab_size, "Tokens of the vocabulary"),
        number("--n-layer", o.config.n_layer, "Blocks"),
        number("--n-head", o.config.n_head, "Attention heads"),
        number("--n-embd", o.config.n_embd, "Width"),
        command.add_flag("--bias,!--no-bias", o.config.bias, "Biases in linear layers and norms"),
        command.add_option("--activation", o.activation, "Of the MLP")->type_name("NAME")->capture_default_str(),
        command.add_option("--attention", o.config.attention.variant, "Attention variant")
            ->type_name("NAME")
            ->capture_default_str(),
        command.add_option("--gamma", o.config.attention.gamma, "Of attentionx")->type_name("X"),
        command.add_option("--gamma-on", o.gamma_on, "Of attentionx")
            ->check(CLI::IsMember({"sum", "value"}))
            ->type_name("sum|value"),
        command.add_flag("--mask-diagonal", o.config.attention.mask_diagonal, "No token attends to itself")};
    for (CLI::Option* option : shape) option->excludes(model);
    number("--batch-size", o.batch_size, "Sequences or images at a time");
    command.add_option("--block-size", o.block_size, "Tokens of a sequence (n_positions)")
        ->type_name("N")
        ->check(whole(1));
    command.add_option("--optimizer", o.optimizer, "adamw, setadam or sgd")->type_name("NAME")->capture_default_str();
    command.add_flag("--plan", o.plan, "The memory plan of a training step: its largest tensors");
    number("--top", o.top, "Tensors that --plan lists");
    command.add_flag("--graph", o.graph, "Instead every node of the training step");
}

}  // namespace

void add_inspect(CLI::App& app, Common& common) {
    CLI::App* command = app.add_subcommand("inspect", "Parameters, FLOPs and memory per part; the memory plan");
    auto options = std::make_shared<Options>();
    add_options(*command, *options);
    add_common(*command, common);
    command->footer(
        "Examples:\n"
        "  vkformer inspect --model out --batch-size 8\n"
        "  vkformer inspect --n-layer 12 --n-head 12 --n-embd 768 --attention belief-star "
        "--plan\n");
    command->callback([options, &common] { run(common, *options); });
}

}  // namespace vkf
