// vkformer eval: loss and perplexity of a model on data.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/model.h"
#include "apps/progress.h"
#include "program/program.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

struct Options {
    std::string model, data, split = "val";
    std::int64_t batch_size = 12;
    std::int64_t block_size = 0;  // 0: n_positions
    std::int64_t iters = 200;
    bool all = false;
};

/// Batch t of the whole split read once, window after window: every token but the first is
/// predicted exactly once. Rows past the end, and the end of the last window, have no targets.
Batch window(std::span<const std::uint16_t> tokens, std::size_t t, std::size_t rows, std::size_t length) {
    Batch batch{std::vector<std::int32_t>(rows * length), std::vector<std::int32_t>(rows * length, -1)};
    for (std::size_t i = 0; i < rows * length; ++i) {
        const std::size_t at = t * rows * length + i;
        if (at + 1 >= tokens.size()) break;
        batch.tokens[i] = tokens[at];
        batch.targets[i] = tokens[at + 1];
    }
    return batch;
}

struct Result {
    double loss = 0;
    std::int64_t predicted = 0;
    std::int64_t batches = 0;
};

/// The mean loss over all predicted tokens.
Result evaluate(Device& device, const Common& common, const Options& o, const Model& model,
                std::span<const std::uint16_t> tokens) {
    Graph graph;
    Parameters parameters;
    State state(device);
    const TensorType type{DType::i32, {o.batch_size, o.block_size}};
    const Tensor logits = gpt2(Scope(graph, parameters), model.config, graph.input("tokens", type));
    graph.output("loss", cross_entropy(logits, graph.input("targets", type)));
    Program program(device, graph, state);
    model.load(parameters, state);

    const auto rows = static_cast<std::size_t>(o.batch_size), length = static_cast<std::size_t>(o.block_size);
    const Batches random(o.split, tokens, {Order::random, rows, length, common.seed});
    const auto per_batch = o.batch_size * o.block_size;
    const auto predictable = static_cast<std::int64_t>(tokens.size()) - 1;
    const std::int64_t count = o.all ? (predictable + per_batch - 1) / per_batch : o.iters;
    Result result;
    double sum = 0;
    Progress progress(common, "eval", "batches", count);
    for (std::int64_t t = 0; t < count; ++t) {
        const auto number = static_cast<std::size_t>(t);
        const Batch batch = o.all ? window(tokens, number, rows, length) : random.at(number);
        check_tokens("data " + o.data, batch.tokens, model.config.vocab_size);
        check_tokens("data " + o.data, batch.targets, model.config.vocab_size, true);
        program.write("tokens", batch.tokens);
        program.write("targets", batch.targets);
        program.run();
        const auto predicted = per_batch - std::ranges::count(batch.targets, -1);
        sum += static_cast<double>(program.read_scalar("loss")) * static_cast<double>(predicted);
        result.predicted += predicted;
        ++result.batches;
        result.loss = sum / static_cast<double>(result.predicted);
        progress.update(result.batches, text("loss ", result.loss));
        if (interrupted()) throw Interrupted();
    }
    return result;
}

void run(const Common& common, Options o) {
    const Model model = open_model(o.model);
    const TokenDataset data = open_data(model, o.data);
    const auto tokens = o.split == "val" ? data.val() : data.train();
    if (o.block_size == 0) o.block_size = model.config.n_positions;
    require(o.block_size <= model.config.n_positions, "--block-size is ", o.block_size,
            ", wanted at most the model's n_positions ", model.config.n_positions);
    require(std::ssize(tokens) > o.block_size, "data ", o.data, ": the split '", o.split, "' has ", tokens.size(),
            " tokens, wanted more than the block size ", o.block_size);
    Result result;
    catch_interrupts();
    with_device(common, [&](Device& device) { result = evaluate(device, common, o, model, tokens); });
    const double perplexity = std::exp(result.loss);
    if (common.json)
        print_json(nlohmann::ordered_json{{"model", o.model},
                                          {"data", o.data},
                                          {"split", o.split},
                                          {"loss", result.loss},
                                          {"perplexity", perplexity},
                                          {"bits_per_token", result.loss / std::numbers::ln2},
                                          {"tokens", result.predicted},
                                          {"batches", result.batches}});
    else
        print(text("loss ", result.loss, "\nperplexity ", perplexity, "\ntokens ", result.predicted, "\n"));
}

void add_options(CLI::App& command, Options& o) {
    command.add_option("--model,model", o.model, "Model directory")->required()->type_name("DIR");
    command.add_option("--data", o.data, "Text, token file, or a directory of either")->required()->type_name("PATH");
    command.add_option("--split", o.split, "Part of the data")
        ->check(CLI::IsMember({"train", "val"}))
        ->type_name("train|val")
        ->capture_default_str();
    command.add_option("--batch-size", o.batch_size, "Sequences at a time")
        ->type_name("N")
        ->check(whole(1))
        ->capture_default_str();
    command.add_option("--block-size", o.block_size, "Tokens of a sequence (the model's n_positions)")
        ->type_name("N")
        ->check(whole(1));
    auto* iters = command.add_option("--iters", o.iters, "Batches drawn at random")
                      ->type_name("N")
                      ->check(whole(1))
                      ->capture_default_str();
    command.add_flag("--all", o.all, "Instead read the whole split once, in order")->excludes(iters);
}

}  // namespace

void add_eval(CLI::App& app, Common& common) {
    CLI::App* command = app.add_subcommand("eval", "Loss and perplexity of a model on data");
    auto options = std::make_shared<Options>();
    add_options(*command, *options);
    add_common(*command, common);
    command->footer(
        "Examples:\n"
        "  vkformer eval --model out --data input.txt\n"
        "  vkformer eval --model out --data data/ --all --json\n");
    command->callback([options, &common] { run(common, *options); });
}

}  // namespace vkf
