// vkformer forward: logits, and on request the loss and every gradient, for tensors in a file.

#include <limits>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/model.h"
#include "base/safetensors.h"
#include "ops/backward.h"
#include "ops/ops.h"
#include "program/program.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct Options {
    std::string model, input, output;
    bool grads = false;
};

/// What the input file asks for. Shapes: tokens, targets [B, T]; targets may be absent.
struct Case {
    std::int64_t batch = 0, length = 0;
    std::vector<std::int32_t> tokens, targets;
};

/// An integer tensor of the file. Values out of 32 bits are out of every vocabulary.
std::vector<std::int32_t> integers(const Safetensors& file, const char* name, const Model& model) {
    const std::vector<std::int64_t> wide = file.read_i64(name);
    const std::int64_t width = file.at(name).shape.back();
    std::vector<std::int32_t> narrow(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const bool ignored = std::string_view(name) == "targets" && wide[i] < 0;
        const auto at = static_cast<std::int64_t>(i);
        require(ignored || (wide[i] >= 0 && wide[i] < model.config.vocab_size), file.path().string(), ": ", name, "[",
                at / width, ", ", at % width, "] is ", wide[i], ", wanted 0 to ", model.config.vocab_size - 1,
                " (vocab_size ", model.config.vocab_size, ")");
        narrow[i] = ignored ? -1 : static_cast<std::int32_t>(wide[i]);
    }
    return narrow;
}

Case read_case(const Common& common, const Options& options, const Model& model) {
    const Safetensors file = Safetensors::open(options.input);
    require(file.contains("tokens"), options.input, ": tensor 'tokens' I64 or I32 [B, T] is missing",
            file.contains("images") ? "; 'images' are for vit, this model is gpt2" : "");
    const auto& shape = file.at("tokens").shape;
    require(shape.size() == 2 && shape[0] > 0 && shape[1] > 0, options.input, ": tokens has shape ", Shape(shape),
            ", wanted [B, T] with at least one token");
    require(shape[1] <= model.config.n_positions, options.input, ": tokens has ", shape[1],
            " positions, the model has n_positions ", model.config.n_positions);
    Case made{shape[0], shape[1], integers(file, "tokens", model), {}};
    if (file.contains("targets")) {
        require(file.at("targets").shape == shape, options.input, ": targets has shape ",
                Shape(file.at("targets").shape), ", wanted that of tokens, ", Shape(shape));
        made.targets = integers(file, "targets", model);
    }
    require(!options.grads || !made.targets.empty(), options.input, ": --grads needs the tensor 'targets' [B, T]");
    const fs::path folder = fs::absolute(options.output).parent_path();
    std::error_code ignored;
    require(fs::is_directory(folder, ignored), "output ", options.output, ": there is no directory ", folder.string());
    for (const StoredTensor& tensor : file.tensors())
        if (tensor.name != "tokens" && tensor.name != "targets")
            note(common, text(options.input, ": tensor '", tensor.name, "' is not used"));
    return made;
}

/// Marks the gradient of every parameter as an output, called as the contract says.
void output_gradients(Graph& graph, Tensor loss, const Parameters& parameters) {
    std::vector<Tensor> wanted;
    for (const Parameter& parameter : parameters.list()) wanted.push_back(parameter.tensor);
    const std::vector<Tensor> found = gradients(loss, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Tensor d = found[i] ? contiguous(found[i]) : fill(graph, wanted[i].shape(), 0.0f);
        graph.output("grad." + parameters.list()[i].name, d);
    }
}

void run(Device& device, const Common& common, const Options& options, const Model& model, const Case& input) {
    Graph graph;
    Parameters parameters;
    State state(device);
    const TensorType batch{DType::i32, {input.batch, input.length}};
    const Tensor logits = gpt2(Scope(graph, parameters), model.config, graph.input("tokens", batch));
    graph.output("logits", logits);
    if (!input.targets.empty()) {
        const Tensor loss = cross_entropy(logits, graph.input("targets", batch));
        graph.output("loss", loss);
        if (options.grads) output_gradients(graph, loss, parameters);
    }
    Program program(device, graph, state);
    model.load(parameters, state);
    program.write("tokens", input.tokens);
    if (!input.targets.empty()) program.write("targets", input.targets);
    program.run();

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
    command
        ->add_option("--input", options->input,
                     "safetensors file: tokens I64 or I32 [B, T], and targets (negative: ignored)")
        ->required()
        ->type_name("FILE");
    command->add_option("--output", options->output, "safetensors file to write")->required()->type_name("FILE");
    command->add_flag("--grads", options->grads, "Also grad.NAME for every parameter");
    add_common(*command, common);
    command->footer(
        "Example:\n"
        "  vkformer forward --model out --input in.safetensors --output out.safetensors --grads\n"
        "\n"
        "Writes logits F32 [B, T, V]; with targets loss F32 []; with --grads every parameter's\n"
        "gradient in the layout it is stored in.\n");
    command->callback([options, &common] {
        const Model model = open_model(options->model);
        const Case input = read_case(common, *options, model);
        with_device(common, [&](Device& device) { run(device, common, *options, model, input); });
    });
}

}  // namespace vkf
