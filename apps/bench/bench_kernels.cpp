// vkformer bench kernels: times every kernel family at the sizes of real models, compared with the device's own peak.

#include <memory>

#include "apps/bench/bench_cases.h"
#include "apps/bench/bench_report.h"
#include "apps/cli/command.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"

namespace vkf {

namespace {

struct BenchKernelsOptions : ReportOptions {
    std::string only, sizes = "small";
};

void bench_kernels(const Common& common, const BenchKernelsOptions& o) {
    const std::vector<Case> cases = chosen_cases(o.only, o.sizes == "large" ? CaseSizes::large : CaseSizes::small);
    run_benchmark(common, o, [&](Device& device, BenchReport& report) {
        Progress progress(common, "bench kernels", "kernels", std::ssize(cases));
        for (std::size_t i = 0; i < cases.size(); ++i) {
            std::string reason;
            const TimingLimits limits{.seconds = o.seconds, .peak = report.peak, .activations = common.activations()};
            if (auto made = time_case(device, cases[i], limits, reason))
                report.measurements.push_back(std::move(*made));
            else
                progress.line(text("left out: ", cases[i].name, ' ', cases[i].shape, ": ", reason));
            progress.update(static_cast<std::int64_t>(i + 1), cases[i].name);
        }
    });
}

}  // namespace

void add_bench_kernels(cli::Command& bench, Common& common) {
    auto o = std::make_shared<BenchKernelsOptions>();
    cli::Command& command =
        bench.add_subcommand("kernels", "Time, FLOP/s and bytes/s of every kernel, beside the peak");
    add_common(command, common);
    command.add_option("--only", o->only, "Only kernels whose family, name, shape and layout match")
        .type_name("PATTERN");
    command.add_option("--sizes", o->sizes, "Of batches that a CPU trains on, or of such as fill a GPU")
        .type_name("small|large")
        .check(one_of({"small", "large"}))
        .capture_default_str();
    o->declare(command);
    command.footer(
        "Examples:\n"
        "  vkformer bench kernels\n"
        "  vkformer bench kernels --only 'matmul.*ViT' --seconds 2\n"
        "  vkformer bench kernels --only matmul --kernels tile\n"
        "  vkformer bench kernels --sizes large --precision mixed --only 'square|attention'\n"
        "  vkformer bench kernels --out report.json --markdown report.md --plot roofline.svg\n"
        "\n"
        "Of peak: the time that the work takes at least by the device's measured FLOP/s and bytes/s, by the median.\n"
        "FLOP/s of a kernel that uses cooperative matrices are compared with those that matrices reached.");
    command.callback([o, &common] { bench_kernels(common, *o); });
}

}  // namespace vkf
