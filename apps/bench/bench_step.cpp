// vkformer bench step: times whole training steps, and the ops in them.

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "apps/bench/bench_by_op.h"
#include "apps/bench/bench_models.h"
#include "apps/bench/bench_report.h"
#include "apps/bench/bench_timing.h"
#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "ops/optimizer/optimizers.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

struct BenchStepOptions : ReportOptions {
    std::string model, attention = "standard";
    BatchSize size;
    bool by_op = false;
};

/// Times the step's nodes, summed by op.
std::vector<Measurement> time_ops(Device& device, const BenchModel& model, double seconds) {
    StepGraphs graphs(model.loss, model.trainer);
    State state(device);
    Program program(device, graphs.step, state, {.stamps = true});
    for (const Parameter& p : graphs.parameters.list()) state.write(p.name, initial_values(p, 1));
    if (model.trainer.scales_loss()) state.write("loss_scale", std::array{model.trainer.loss_scaling.initial, 0.0f});
    model.fill(program);
    program.write("rates", step_rates(1e-4, 0.9, 0.95, 1));
    return time_by_op(program, model.title, seconds);
}

/// Element type of the cooperative matrices in a step's products by implementation `kernels`; empty if they may not use
/// any.
std::string product_element(const Device& device, Format activations, const std::string& kernels) {
    if (activations == Format::f32 || kernels == "subgroup" || kernels == "tile") return {};
    const MatrixElement wanted = activations == Format::bf16 ? MatrixElement::bf16 : MatrixElement::fp16;
    const auto& matrices = device.info().matrices;
    return std::ranges::count(matrices, wanted, &MatrixShape::element) > 0 ? to_string(wanted) : "";
}

}  // namespace

Analysis analyse_step(const Device& device, const BenchModel& model) {
    StepGraphs graphs(model.loss, model.trainer);
    return analyse(graphs, traits(device, graphs.step));
}

Measurement time_step(Device& device, const BenchModel& model, const Analysis& analysis, const std::string& kernels,
                      double seconds, std::int64_t steps) {
    Trainer trainer(device, model.loss, model.loss, model.trainer);
    std::int64_t step = 0;
    std::vector<double> host;
    const auto start = [&] {
        const auto began = std::chrono::steady_clock::now();
        trainer.start(step++, 1e-4, [&](Program& program, std::uint64_t) { model.fill(program); });
        host.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    };
    start();
    Measurement made{.family = "step",
                     .name = model.measured_name(),
                     .shape = model.shape,
                     .layout = {},
                     .flops = analysis.flops,
                     .bytes = analysis.traffic(),
                     .item = model.item,
                     .items = model.items,
                     .element = product_element(device, model.trainer.activations, kernels),
                     .model = model.name,
                     .attention = model.attention};
    const auto update = [&] {
        start();
        trainer.finish();
    };
    made.seconds = time_calls(seconds, update, steps);
    trainer.finish();
    made.host_seconds = timing_of(std::move(host)).median;
    return made;
}

namespace {

void bench_step(const Common& common, const BenchStepOptions& o) {
    std::vector<BenchModel> models = chosen_models(o.model, o.attention, o.size);
    run_benchmark(common, o, [&](Device& device, BenchReport& report) {
        Progress progress(common, "bench step", "models", std::ssize(models));
        for (std::size_t i = 0; i < models.size(); ++i) {
            BenchModel& model = models[i];
            model.trainer.activations = common.activations();
            model.trainer = with_device_defaults(model.trainer, device);
            progress.update(static_cast<std::int64_t>(i), model.title);
            const Analysis analysis = analyse_step(device, model);
            if (const std::string lack = lacking_memory(device, analysis); !lack.empty()) {
                progress.line(text("left out: ", model.title, ": ", lack));
                continue;
            }
            report.measurements.push_back(time_step(device, model, analysis, common.kernels, o.seconds));
            if (!o.by_op) continue;
            for (Measurement& op : time_ops(device, model, o.seconds)) report.measurements.push_back(std::move(op));
        }
    });
}

}  // namespace

void add_bench_step(cli::Command& bench, Common& common) {
    auto o = std::make_shared<BenchStepOptions>();
    cli::Command& command = bench.add_subcommand("step", "Whole training steps of real models");
    add_common(command, common);
    command.add_option("--model", o->model, listed(bench_model_names()) + "; else each in turn").type_name("NAME");
    command.add_option("--attention", o->attention, "A variant: standard, belief, belief-star, ...")
        .type_name("NAME")
        .capture_default_str();
    o->size.declare(command, "Sequences or images in a batch; else each model's own",
                    "Tokens of a sequence; else each model's own");
    command.add_flag("--by-op", o->by_op, "Also the ops that the step consists of, most time first");
    o->declare(command);
    command.footer(
        "Examples:\n"
        "  vkformer bench step\n"
        "  vkformer bench step --model small-gpt --attention belief\n"
        "  vkformer bench step --model gpt2 --batch-size 4 --block-size 128 --precision mixed\n"
        "  vkformer bench step --model vit --by-op --seconds 10 --out step.json");
    command.callback([o, &common] { bench_step(common, *o); });
}

}  // namespace vkf
