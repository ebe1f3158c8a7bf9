// vkformer forward: logits, and on request the loss and every gradient, for tensors in a file.

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "apps/cli/output_file.h"
#include "apps/eval/forward_case.h"
#include "apps/model.h"
#include "apps/tasks.h"
#include "base/files/safetensors.h"
#include "models/attention/attention_taps.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/loss/cross_entropy.h"
#include "ops/movement/view.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

ForwardCase read_case(const Common& common, const ForwardOptions& options) {
    const std::filesystem::path whole = whole_model({options.model, options.base});
    const Safetensors file = Safetensors::open(options.input);
    ForwardCase made = commands_of(family_in(whole).task()).forward(options, file);
    require(!options.grads || !made.targets.integers.empty(), options.input, ": --grads needs the tensor '",
            made.targets.name, "' ", made.targets.type.shape);
    require_output("--output", options.output, {options.input, options.model, whole.string()});
    for (const StoredTensor& tensor : file.tensors())
        if (tensor.name != made.targets.name &&
            std::ranges::find(made.inputs, tensor.name, &ForwardTensor::name) == made.inputs.end())
            note(common, text(options.input, ": tensor '", tensor.name, "' is not used"));
    return made;
}

/// Makes the gradient of every parameter that is not frozen an output, named as the contract says.
void output_gradients(Graph& graph, Tensor loss, const std::vector<Parameter>& parameters) {
    std::vector<Tensor> wanted;
    for (const Parameter& parameter : parameters) wanted.push_back(parameter.tensor);
    const std::vector<Tensor> found = gradients(loss, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Tensor d = found[i] ? contiguous(found[i]) : fill(graph, wanted[i].shape(), 0.0f);
        graph.output("grad." + parameters[i].name, d);
    }
}

/// Makes layers' tensors outputs. Throws InputError for a name that no layer has.
void output_taps(Graph& graph, const ForwardOptions& options, const Taps& taps) {
    for (const std::string& name : options.taps)
        require(std::ranges::find(taps.found, name, &Tapped::name) != taps.found.end(), "model ", options.model,
                ": no layer offers '", name, "' to --taps");
    for (const Tapped& tapped : taps.found) graph.output(tapped.output(), tapped.tensor);
}

/// "2, 0, 5": indices of the element with this number.
std::string place_of(std::int64_t number, const Shape& shape) {
    std::string place;
    const auto extents = shape.extents();
    for (auto extent = extents.rbegin(); extent != extents.rend(); number /= *extent++)
        place = text(number % *extent, place.empty() ? "" : ", ", place);
    return place;
}

/// Throws Error naming the first number among the outputs that is not finite, and its origin.
void require_finite(Program& program, const Graph& graph, const std::string& model) {
    for (const NamedTensor& output : graph.outputs()) {
        const std::vector<float> values = program.read(output.name);
        const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
        if (bad == values.end()) continue;
        const std::string source = program.find_non_finite();
        const std::string place = place_of(bad - values.begin(), output.tensor.shape());
        throw Error("model ", model, ": ", output.name, place.empty() ? "" : "[" + place + "]", " is ", *bad,
                    source.empty() ? "" : "; the first number that is not finite: ", source,
                    "; --allow-nonfinite writes it all the same");
    }
}

std::vector<std::string> layer_tap_names() {
    std::vector<std::string> names = attention_tap_names();
    names.emplace_back(tap::cross_weights);
    return names;
}

void run(Device& device, const Common& common, const ForwardOptions& options, const ForwardCase& input) {
    Graph graph;
    graph.activations = common.activations();
    Parameters parameters;
    State state(device);
    std::vector<Tensor> in;
    for (const ForwardTensor& tensor : input.inputs) in.push_back(graph.input(tensor.name, tensor.type));
    Taps taps{.names = options.taps};
    const Tensor logits = input.logits(Scope(graph, parameters).with_taps(&taps), in);
    graph.output("logits", logits);
    output_taps(graph, options, taps);
    const bool has_targets = !input.targets.integers.empty();
    if (has_targets) {
        const Tensor loss = cross_entropy(logits, graph.input(input.targets.name, input.targets.type));
        graph.output("loss", loss);
        if (options.grads) output_gradients(graph, loss, parameters.trained());
    }
    Program program(device, graph, state);
    input.load(parameters, state);
    for (const ForwardTensor& tensor : input.inputs) {
        if (tensor.numbers.empty())
            program.write(tensor.name, tensor.integers);
        else
            program.write(tensor.name, tensor.numbers);
    }
    if (has_targets) program.write(input.targets.name, input.targets.integers);
    program.run();
    if (!options.allow_nonfinite) require_finite(program, graph, options.model);

    std::vector<TensorSource> tensors;
    nlohmann::ordered_json document{{"output", options.output}};
    for (const NamedTensor& output : graph.outputs()) {
        const auto extents = output.tensor.shape().extents();
        tensors.push_back({output.name,
                           StoredType::F32,
                           {extents.begin(), extents.end()},
                           [&program, name = output.name](FileWriter& file) {
                               write_floats(file, program.read(name), StoredType::F32);
                           }});
        document["tensors"][output.name] = std::vector(extents.begin(), extents.end());
    }
    write_safetensors(options.output, tensors);
    if (has_targets) document["loss"] = program.read_scalar("loss");
    if (common.json)
        print_json(document);
    else if (has_targets)
        print(text("loss ", program.read_scalar("loss"), "\n"));
}

}  // namespace

void add_forward(cli::Command& app, Common& common) {
    cli::Command& command =
        app.add_subcommand("forward", "Logits, and with --grads the loss and every gradient, for tensors in a file");
    auto options = std::make_shared<ForwardOptions>();
    command.add_option("--model", options->model, "Model directory").required().type_name("DIR");
    add_base_option(command, options->base);
    add_verify_option(command, options->verify);
    command
        .add_option("--input", options->input,
                    "safetensors file: tokens I64 or I32 [B, T] and targets, or images F32 [B, C, H, W] and labels")
        .required()
        .type_name("FILE");
    command.add_option("--output", options->output, "safetensors file to write").required().type_name("FILE");
    command.add_option("--taps", options->taps, "Also tap.LAYER.NAME for these tensors of layers, separated by commas")
        .type_name(joined(layer_tap_names(), "|"))
        .delimiter(',')
        .check(one_of(layer_tap_names()));
    command.add_flag("--grads", options->grads, "Also grad.NAME for every parameter; of adapters, for theirs");
    command.add_flag("--allow-nonfinite", options->allow_nonfinite, "Write results that are nan or infinite too");
    add_common(command, common);
    command.footer(
        "Example:\n"
        "  vkformer forward --model out --input in.safetensors --output out.safetensors --grads\n"
        "\n"
        "Writes logits F32 [B, T, V] or [B, classes]; with targets or labels (negative: ignored) loss F32 []; with\n"
        "--grads every parameter's gradient in the layout it is stored in.\n");
    command.callback([options, &common] {
        const ForwardCase input = read_case(common, *options);
        with_device(common, [&](Device& device) { run(device, common, *options, input); });
    });
}

}  // namespace vkf
