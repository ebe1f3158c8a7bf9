// vkformer bench generate: speed of a language model at reading a prompt and at writing tokens.

#include <array>
#include <bit>
#include <memory>
#include <numeric>

#include "apps/bench/bench_by_op.h"
#include "apps/bench/bench_models.h"
#include "apps/bench/bench_report.h"
#include "apps/bench/bench_timing.h"
#include "apps/cli/command.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "models/generation/generate.h"
#include "models/generation/sampling.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

struct BenchGenerateOptions : ReportOptions {
    std::string model;
    std::int64_t prompt = 256;
    BatchSize size;
    bool by_op = false;

    GenerationSize sizes() const { return {.prompt = prompt, .rows = size.batch ? size.batch : 1}; }
};

}  // namespace

std::int64_t GenerationSize::length(const ModelConfig& config) const {
    return std::min(prompt, config.size(Dimension::context) / 2);
}

Analysis analyse_generation(const Device& device, const ModelConfig& config, Format activations,
                            const GenerationSize& size) {
    return analyse_reading(config, activations, size.length(config), config.size(Dimension::context), traits(device),
                           size.rows);
}

std::vector<Measurement> time_generation(Device& device, const BenchModel& model, Format activations,
                                         const GenerationSize& size, double seconds, std::int64_t calls) {
    const ModelConfig& config = model.config;
    const std::int64_t length = size.length(config);
    std::vector<Measurement> made;
    const std::vector<std::int32_t> prompt = random_tokens(length, config.size(Dimension::vocab_size));
    Generator generator(device, config, {.activations = activations, .rows = size.rows});
    for (const Parameter& p : generator.parameters().list()) generator.state().write(p.name, initial_values(p, 1));
    const auto add = [&](const char* name, std::int64_t tokens, std::int64_t positions, std::int64_t rows,
                         const Timing& timing) {
        const Analysis analysis = analyse_reading(config, activations, tokens, positions, traits(device), rows);
        made.push_back({.family = "generate",
                        .name = text(model.measured_name(), ' ', name),
                        .shape = text(rows > 1 ? text(rows, 'x') : std::string(), tokens,
                                      tokens > 1 || rows > 1 ? " tokens" : " token"),
                        .layout = {},
                        .seconds = timing,
                        .flops = analysis.flops,
                        .bytes = analysis.traffic(),
                        .item = "token",
                        .items = static_cast<double>(rows * tokens),
                        .model = model.name,
                        .attention = model.attention});
    };
    add("prefill", length, length, 1,
        time_calls(
            seconds, [&] { generator.prefill(prompt); }, calls));
    const auto begin = [&] {
        generator.prefill(prompt);
        for (std::int64_t row = 1; row < size.rows; ++row) generator.repeat_prefill(row);
    };
    begin();
    Random random(1, "sample");
    const SampleRow how = sample_row({}, config.size(Dimension::vocab_size), random);
    std::vector<NextToken> next;
    for (std::int64_t row = 0; row < size.rows; ++row)
        next.push_back({.row = row, .token = prompt.front(), .how = how});
    const auto decode = [&] {
        // With a full context, the next token would make the generator read half of the context again at once.
        if (std::ssize(generator.context()) == config.size(Dimension::context)) begin();
        generator.decode(next);
    };
    add("decode", 1, length + 1, size.rows, time_calls(seconds, decode, calls));
    return made;
}

namespace {

/// Times the graph that `build` appends, by op; `write` sets its inputs.
template <class Build, class Write>
std::vector<Measurement> time_ops(Device& device, const BenchModel& model, const char* what, Format activations,
                                  double seconds, Build build, Write write) {
    Graph graph;
    graph.activations = activations;
    Parameters parameters;
    build(Scope(graph, parameters));
    State state(device);
    Program program(device, graph, state, {.stamps = true});
    for (const Parameter& p : parameters.list()) state.write(p.name, initial_values(p, 1));
    write(program, graph);
    return time_by_op(program, text(model.title, ' ', what), seconds);
}

/// Times the ops of reading a prompt.
std::vector<Measurement> time_prefill_ops(Device& device, const BenchModel& model, Format activations,
                                          const BenchGenerateOptions& o) {
    const ModelConfig& config = model.config;
    const std::int64_t length = o.sizes().length(config);
    const auto build = [&](const Scope& scope) { prefill_chunk(scope, config, length, activations, 1, length); };
    return time_ops(device, model, "prefill", activations, o.seconds, build, [&](Program& program, const Graph&) {
        std::vector<std::int32_t> positions(static_cast<std::size_t>(length));
        std::iota(positions.begin(), positions.end(), 0);
        program.write("tokens", random_tokens(length, config.size(Dimension::vocab_size)));
        program.write("positions", positions);
        program.write("lengths", std::array{static_cast<std::int32_t>(length)});
    });
}

/// Times the ops of writing one token of each text after the prompt.
std::vector<Measurement> time_decode_ops(Device& device, const BenchModel& model, Format activations,
                                         const BenchGenerateOptions& o) {
    const ModelConfig& config = model.config;
    const std::int64_t positions = o.sizes().length(config) + 1;
    const auto build = [&](const Scope& scope) { decode_step(scope, config, activations, o.sizes().rows, positions); };
    return time_ops(device, model, "decode", activations, o.seconds, build, [&](Program& program, const Graph& graph) {
        const auto of_each = [&](std::int64_t value) {
            return std::vector(static_cast<std::size_t>(o.sizes().rows), static_cast<std::int32_t>(value));
        };
        program.write("tokens", of_each(0));
        program.write("positions", of_each(positions - 1));
        program.write("lengths", of_each(positions));
        Random random(1, "sample");
        const SampleRow how = sample_row({}, config.size(Dimension::vocab_size), random);
        const auto words = std::bit_cast<std::array<std::int32_t, SampleRow::words>>(how);
        std::vector<std::int32_t> sampling;
        for (std::int64_t row = 0; row < o.sizes().rows; ++row)
            sampling.insert(sampling.end(), words.begin(), words.end());
        program.write("sampling", sampling);
        const auto tokens = static_cast<std::size_t>(graph.input_named("seen").elements());
        program.write("seen", std::vector<std::int32_t>(tokens));
    });
}

void bench_generate(const Common& common, const BenchGenerateOptions& o) {
    auto models = chosen_models(o.model, "standard", o.size);
    std::erase_if(models, [](const BenchModel& model) { return !model.generates(); });
    require(!models.empty(), "--model is '", o.model, "', which generates no text");
    if (o.size.length > 0)
        for (BenchModel& model : models) model.config.set(Dimension::context, o.size.length);
    run_benchmark(common, o, [&](Device& device, BenchReport& report) {
        Progress progress(common, "bench generate", "models", std::ssize(models));
        for (std::size_t i = 0; i < models.size(); ++i) {
            const ModelConfig& config = models[i].config;
            progress.update(static_cast<std::int64_t>(i), models[i].title);
            const std::string lack =
                lacking_memory(device, analyse_generation(device, config, common.activations(), o.sizes()));
            if (!lack.empty()) {
                progress.line(text("left out: ", models[i].title, ": ", lack));
                continue;
            }
            for (Measurement& m : time_generation(device, models[i], common.activations(), o.sizes(), o.seconds))
                report.measurements.push_back(std::move(m));
            if (!o.by_op) continue;
            for (const auto& time : {time_prefill_ops, time_decode_ops})
                for (Measurement& op : time(device, models[i], common.activations(), o))
                    report.measurements.push_back(std::move(op));
        }
    });
}

}  // namespace

void add_bench_generate(cli::Command& bench, Common& common) {
    auto o = std::make_shared<BenchGenerateOptions>();
    cli::Command& command = bench.add_subcommand("generate", "Reading a prompt and writing tokens");
    add_common(command, common);
    command.add_option("--model", o->model, listed(bench_model_names(true)) + "; else each in turn").type_name("NAME");
    command.add_option("--prompt", o->prompt, "Length of the prompt in tokens; at most half the context is used")
        .type_name("N")
        .check(whole(1, 1'000'000))
        .capture_default_str();
    o->size.declare(command, "Texts that are written at once; else one", "Tokens of a text; else a model's context");
    command.add_flag("--by-op", o->by_op, "Also the ops that reading and writing consist of, most time first");
    o->declare(command);
    command.footer(
        "Examples:\n"
        "  vkformer bench generate\n"
        "  vkformer bench generate --model gpt2 --seconds 5 --json\n"
        "  vkformer bench generate --model small-gpt --batch-size 8 --block-size 32");
    command.callback([o, &common] { bench_generate(common, *o); });
}

}  // namespace vkf
