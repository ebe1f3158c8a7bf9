// vkformer bench generate: how fast a language model reads a prompt, and how fast it then writes.

#include <array>
#include <bit>
#include <memory>
#include <numeric>

#include "apps/bench_by_op.h"
#include "apps/bench_models.h"
#include "apps/bench_report.h"
#include "apps/bench_timing.h"
#include "apps/progress.h"
#include "models/generate.h"
#include "models/sampling.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

struct Options : ReportOptions {
    std::string model;
    std::int64_t prompt = 256;
    bool by_op = false;
};

/// What was asked for, at most half the context.
std::int64_t prompt_length(const ModelConfig& config, const Options& o) {
    return std::min(o.prompt, config.size(Dimension::context) / 2);
}

/// Reading a prompt, and single tokens behind it.
void time_generation(Device& device, const BenchModel& model, Format activations, const Options& o,
                     BenchReport& report) {
    const ModelConfig& config = model.config;
    const std::int64_t length = prompt_length(config, o);
    const std::vector<std::int32_t> prompt = random_tokens(length, config.size(Dimension::vocab_size));
    Generator generator(device, config, {.activations = activations});
    for (const Parameter& p : generator.parameters().list()) generator.state().write(p.name, initial_values(p, 1));
    const auto add = [&](const char* name, std::int64_t tokens, std::int64_t positions, const Timing& timing) {
        const Analysis analysis = analyse_reading(config, activations, tokens, positions, traits(device));
        report.measurements.push_back({.family = "generate",
                                       .name = text(model.title, ' ', name),
                                       .shape = tokens > 1 ? text(tokens, " tokens") : text("1 token"),
                                       .layout = {},
                                       .seconds = timing,
                                       .flops = analysis.flops,
                                       .bytes = analysis.traffic(),
                                       .item = "token",
                                       .items = static_cast<double>(tokens)});
    };
    add("prefill", length, length, time_calls(o.seconds, [&] { generator.prefill(prompt); }));
    generator.prefill(prompt);
    Random random(1, "sample");
    const SampleRow how = sample_row({}, config.size(Dimension::vocab_size), random);
    add("decode", 1, length + 1, time_calls(o.seconds, [&] {
            // A full context would be read anew, half of it at once.
            if (std::ssize(generator.context()) == config.size(Dimension::context)) generator.prefill(prompt);
            generator.decode(std::array{NextToken{.token = prompt.front(), .how = how}});
        }));
}

/// What reading a prompt takes, by op.
std::vector<Measurement> time_prefill_ops(Device& device, const BenchModel& model, Format activations,
                                          const Options& o) {
    Graph graph;
    graph.activations = activations;
    Parameters parameters;
    const std::int64_t length = prompt_length(model.config, o);
    prefill_chunk(Scope(graph, parameters), model.config, length, activations, 1, length);
    State state(device);
    Program program(device, graph, state, {.stamps = true});
    for (const Parameter& p : parameters.list()) state.write(p.name, initial_values(p, 1));
    program.write("tokens", random_tokens(length, model.config.size(Dimension::vocab_size)));
    std::vector<std::int32_t> positions(static_cast<std::size_t>(length));
    std::iota(positions.begin(), positions.end(), 0);
    program.write("positions", positions);
    program.write("lengths", std::array{static_cast<std::int32_t>(length)});
    return time_by_op(program, model.title + " prefill", o.seconds);
}

/// What writing a token behind a prompt takes, by op.
std::vector<Measurement> time_decode_ops(Device& device, const BenchModel& model, Format activations,
                                         const Options& o) {
    Graph graph;
    graph.activations = activations;
    Parameters parameters;
    const std::int64_t positions = prompt_length(model.config, o) + 1;
    decode_step(Scope(graph, parameters), model.config, activations, 1, positions);
    State state(device);
    Program program(device, graph, state, {.stamps = true});
    for (const Parameter& p : parameters.list()) state.write(p.name, initial_values(p, 1));
    program.write("tokens", std::array{0});
    program.write("positions", std::array{static_cast<std::int32_t>(positions - 1)});
    program.write("lengths", std::array{static_cast<std::int32_t>(positions)});
    Random random(1, "sample");
    const SampleRow how = sample_row({}, model.config.size(Dimension::vocab_size), random);
    program.write("sampling", std::bit_cast<std::array<std::int32_t, SampleRow::words>>(how));
    program.write("seen", std::vector<std::int32_t>(static_cast<std::size_t>(graph.input_named("seen").elements())));
    return time_by_op(program, model.title + " decode", o.seconds);
}

void bench_generate(const Common& common, const Options& o) {
    auto models = chosen_models(o.model);
    std::erase_if(models, [](const BenchModel& model) { return !model.generates(); });
    require(!models.empty(), "--model is '", o.model, "', which generates no text");
    run_benchmark(common, o, [&](Device& device, BenchReport& report) {
        Progress progress(common, "bench generate", "models", std::ssize(models));
        for (std::size_t i = 0; i < models.size(); ++i) {
            const ModelConfig& config = models[i].config;
            progress.update(static_cast<std::int64_t>(i), models[i].title);
            const Analysis analysis = analyse_reading(config, common.activations(), prompt_length(config, o),
                                                      config.size(Dimension::context), traits(device));
            const std::string lack = lacking_memory(device, analysis);
            if (!lack.empty()) {
                progress.line(text("left out: ", models[i].title, ": ", lack));
                continue;
            }
            time_generation(device, models[i], common.activations(), o, report);
            if (!o.by_op) continue;
            for (const auto& time_ops : {time_prefill_ops, time_decode_ops})
                for (Measurement& op : time_ops(device, models[i], common.activations(), o))
                    report.measurements.push_back(std::move(op));
        }
    });
}

}  // namespace

void add_bench_generate(CLI::App& bench, Common& common) {
    auto o = std::make_shared<Options>();
    CLI::App* command = bench.add_subcommand("generate", "Reading a prompt and writing tokens");
    add_common(*command, common);
    command->add_option("--model", o->model, listed(bench_model_names(true)) + "; else each in turn")
        ->type_name("NAME");
    command->add_option("--prompt", o->prompt, "Length of the prompt in tokens; at most half the context is used")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
        ->capture_default_str();
    command->add_flag("--by-op", o->by_op, "Also the ops that reading and writing consist of, most time first");
    o->declare(*command);
    command->footer(
        "Examples:\n"
        "  vkformer bench generate\n"
        "  vkformer bench generate --model gpt2 --seconds 5 --json");
    command->callback([o, &common] { bench_generate(common, *o); });
}

}  // namespace vkf
