// vkformer forward: logits, and on request the loss and every gradient, for tensors in a file.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/model.h"
#include "apps/output_file.h"
#include "base/safetensors.h"
#include "models/image_model.h"
#include "models/language_model.h"
#include "ops/arithmetic.h"
#include "ops/backward.h"
#include "ops/cross_entropy.h"
#include "ops/view.h"
#include "program/program.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct Options {
    std::string model, base, input, output;
    bool verify = true;
    bool grads = false, allow_nonfinite = false;
};

/// What the files ask for, whatever kind of model it is.
struct Case {
    std::string input_name, target_name;
    TensorType input_type;
    std::vector<std::int32_t> tokens;  // the input, if it is of integers
    std::vector<float> images;         // else
    TensorType target_type;
    std::vector<std::int32_t> targets;  // may be absent
    std::function<Tensor(const Scope&, Tensor)> logits;
    std::function<void(const Parameters&, State&)> load;
};

/// An integer tensor of the file, its values below a size of the model. Values out of 32 bits are out of every range.
std::vector<std::int32_t> integers(const Safetensors& file, const std::string& name, const Size& count,
                                   bool may_be_negative) {
    const std::vector<std::int64_t> wide = file.read_i64(name);
    const auto& shape = file.at(name).shape;
    std::vector<std::int32_t> narrow(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const bool ignored = may_be_negative && wide[i] < 0;
        const auto at = static_cast<std::int64_t>(i);
        const std::string place = shape.size() == 2 ? text(at / shape[1], ", ", at % shape[1]) : text(at);
        require(ignored || (wide[i] >= 0 && wide[i] < count), file.path().string(), ": ", name, "[", place, "] is ",
                wide[i], ", wanted 0 to ", count - 1, " (", count.key, " ", count.value, ")");
        narrow[i] = ignored ? -1 : static_cast<std::int32_t>(wide[i]);
    }
    return narrow;
}

/// What to say where a file has the other kind of model's input.
std::string wrong_kind(const Safetensors& file, const char* input, const Family& family) {
    return file.contains(input) ? text("; it has '", input, "', which are not for a ", family.title) : "";
}

Case text_case(const Options& options, const Safetensors& file) {
    const auto model =
        std::make_shared<const Model>(open_untokenized_model({options.model, options.base, options.verify}));
    require(file.contains("tokens"), options.input, ": tensor 'tokens' I64 or I32 [B, T] is missing",
            wrong_kind(file, "images", model->family()));
    const auto& shape = file.at("tokens").shape;
    require(shape.size() == 2 && shape[0] > 0 && shape[1] > 0, options.input, ": tokens has shape ", Shape(shape),
            ", wanted [B, T] with at least one token");
    const Size context = model->config.size(Dimension::context), vocabulary = model->config.size(Dimension::vocab_size);
    require(shape[1] <= context, options.input, ": tokens has ", shape[1], " positions, the model has ", context.key,
            " ", context.value);
    Case made{"tokens", "targets", {DType::i32, Shape(shape)}, {}, {}, {DType::i32, Shape(shape)}, {}, {}, {}};
    made.tokens = integers(file, "tokens", vocabulary, false);
    if (file.contains("targets")) {
        require(file.at("targets").shape == shape, options.input, ": targets has shape ",
                Shape(file.at("targets").shape), ", wanted that of tokens, ", Shape(shape));
        made.targets = integers(file, "targets", vocabulary, true);
    }
    made.logits = [model](const Scope& scope, Tensor tokens) { return language_logits(scope, model->config, tokens); };
    made.load = [model](const Parameters& parameters, State& state) { model->load(parameters, state); };
    return made;
}

Case image_case(const Options& options, const Safetensors& file) {
    const auto model = std::make_shared<const ImageModel>(open_image_model({options.model, {}, options.verify}));
    require(file.contains("images"), options.input, ": tensor 'images' F32 [B, C, H, W] is missing",
            wrong_kind(file, "tokens", model->family()));
    const std::vector<std::int64_t>& shape = file.at("images").shape;
    const Shape one = image_type(model->config, 1).shape;
    const bool fits = shape.size() == 4 && shape[0] > 0 && Shape(shape) == image_type(model->config, shape[0]).shape;
    require(fits, options.input, ": images has shape ", Shape(shape), ", wanted [B, ", one[1], ", ", one[2], ", ",
            one[3], "]");
    Case made{"images", "labels", {DType::f32, Shape(shape)}, {}, {}, {DType::i32, {shape[0]}}, {}, {}, {}};
    made.images = file.read_f32("images");
    if (file.contains("labels")) {
        require(Shape(file.at("labels").shape) == Shape{shape[0]}, options.input, ": labels has shape ",
                Shape(file.at("labels").shape), ", wanted [", shape[0], "]");
        made.targets = integers(file, "labels", model->config.size(Dimension::classes), true);
    }
    made.logits = [model](const Scope& scope, Tensor images) { return image_logits(scope, model->config, images); };
    made.load = [model](const Parameters& parameters, State& state) { model->load(parameters, state); };
    return made;
}

Case read_case(const Common& common, const Options& options) {
    const std::filesystem::path whole = whole_model({options.model, options.base});
    const bool images = family_in(whole).images();
    const Safetensors file = Safetensors::open(options.input);
    Case made = images ? image_case(options, file) : text_case(options, file);
    require(!options.grads || !made.targets.empty(), options.input, ": --grads needs the tensor '", made.target_name,
            "' ", made.target_type.shape);
    require_output("--output", options.output, {options.input, options.model, whole.string()});
    for (const StoredTensor& tensor : file.tensors())
        if (tensor.name != made.input_name && tensor.name != made.target_name)
            note(common, text(options.input, ": tensor '", tensor.name, "' is not used"));
    return made;
}

/// Marks the gradient of every parameter that is not frozen as an output, called as the contract says.
void output_gradients(Graph& graph, Tensor loss, const std::vector<Parameter>& parameters) {
    std::vector<Tensor> wanted;
    for (const Parameter& parameter : parameters) wanted.push_back(parameter.tensor);
    const std::vector<Tensor> found = gradients(loss, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Tensor d = found[i] ? contiguous(found[i]) : fill(graph, wanted[i].shape(), 0.0f);
        graph.output("grad." + parameters[i].name, d);
    }
}

/// "2, 0, 5": where the element with this number stands.
std::string place_of(std::int64_t number, const Shape& shape) {
    std::string place;
    const auto extents = shape.extents();
    for (auto extent = extents.rbegin(); extent != extents.rend(); number /= *extent++)
        place = text(number % *extent, place.empty() ? "" : ", ", place);
    return place;
}

/// Throws Error naming the first number among the outputs that is not finite, and where it comes from.
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

void run(Device& device, const Common& common, const Options& options, const Case& input) {
    Graph graph;
    graph.activations = common.activations();
    Parameters parameters;
    State state(device);
    const Tensor logits = input.logits(Scope(graph, parameters), graph.input(input.input_name, input.input_type));
    graph.output("logits", logits);
    if (!input.targets.empty()) {
        const Tensor loss = cross_entropy(logits, graph.input(input.target_name, input.target_type));
        graph.output("loss", loss);
        if (options.grads) output_gradients(graph, loss, parameters.trained());
    }
    Program program(device, graph, state);
    input.load(parameters, state);
    if (input.images.empty())
        program.write(input.input_name, input.tokens);
    else
        program.write(input.input_name, input.images);
    if (!input.targets.empty()) program.write(input.target_name, input.targets);
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
    if (!input.targets.empty()) document["loss"] = program.read_scalar("loss");
    if (common.json)
        print_json(document);
    else if (!input.targets.empty())
        print(text("loss ", program.read_scalar("loss"), "\n"));
}

}  // namespace

void add_forward(CLI::App& app, Common& common) {
    CLI::App* command =
        app.add_subcommand("forward", "Logits, and with --grads the loss and every gradient, for tensors in a file");
    auto options = std::make_shared<Options>();
    command->add_option("--model", options->model, "Model directory")->required()->type_name("DIR");
    add_base_option(*command, options->base);
    add_verify_option(*command, options->verify);
    command
        ->add_option("--input", options->input,
                     "safetensors file: tokens I64 or I32 [B, T] and targets, or images F32 [B, C, H, W] and labels")
        ->required()
        ->type_name("FILE");
    command->add_option("--output", options->output, "safetensors file to write")->required()->type_name("FILE");
    command->add_flag("--grads", options->grads, "Also grad.NAME for every parameter; of adapters, for theirs");
    command->add_flag("--allow-nonfinite", options->allow_nonfinite, "Write results that are nan or infinite too");
    add_common(*command, common);
    command->footer(
        "Example:\n"
        "  vkformer forward --model out --input in.safetensors --output out.safetensors --grads\n"
        "\n"
        "Writes logits F32 [B, T, V] or [B, classes]; with targets or labels (negative: ignored) loss F32 []; with\n"
        "--grads every parameter's gradient in the layout it is stored in.\n");
    command->callback([options, &common] {
        const Case input = read_case(common, *options);
        with_device(common, [&](Device& device) { run(device, common, *options, input); });
    });
}

}  // namespace vkf
