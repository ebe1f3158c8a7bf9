// vkformer bench suite: the portability benchmark, products to whole models, within a time.

#include <algorithm>
#include <memory>

#include "apps/bench/bench_cases.h"
#include "apps/bench/suite/suite_run.h"
#include "apps/cli/command.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

struct BenchSuiteOptions : ReportOptions {
    double minutes = 10;
    std::string only;
};

std::vector<SuiteItem> chosen_plan(const Common& common, const std::string& only) {
    std::vector<SuiteItem> plan = suite_plan(common.half == "float16" ? Format::f16 : Format::bf16, common.kernels);
    if (only.empty()) return plan;
    const std::regex wanted = only_expression(only);
    std::erase_if(plan, [&](const SuiteItem& item) {
        const LeftOut& at = item.what;
        return !std::regex_search(text(at.family, ' ', at.name, ' ', at.shape, ' ', at.precision), wanted);
    });
    require(!plan.empty(), "--only is '", only, "', which no measurement's family, name, shape and precision match");
    return plan;
}

void bench_suite(const Common& common, const BenchSuiteOptions& o) {
    require(common.precision == "fp32",
            "--precision is mixed, but bench suite measures both: --only chooses, as in --only bf16");
    const std::vector<SuiteItem> plan = chosen_plan(common, o.only);
    run_benchmark(common, o, [&](Device& device, BenchReport& report) {
        report.suite = SuiteRecord{.version = SUITE_VERSION, .minutes = o.minutes};
        report.models = suite_models();
        Progress progress(common, "bench suite", "measurements", 0);
        run_suite(device, plan, 60 * o.minutes, report, [&](std::size_t done, double left, const std::string& name) {
            progress.update(static_cast<std::int64_t>(done),
                            text(plan.size() - done, " to go, at most ", duration_text(left), " left: ", name));
        });
        progress.clear();
        if (report.measurements.empty()) {
            const LeftOut& first = report.suite->left_out.front();
            throw Error("nothing was measured: ", first.name, ' ', first.shape, ' ', first.reason);
        }
        note(common, text(report.measurements.size(), " measurements; ", report.suite->left_out.size(), " of ",
                          plan.size(), " did not fit the device or the time"));
    });
}

}  // namespace

void add_bench_suite(cli::Command& bench, Common& common) {
    auto o = std::make_shared<BenchSuiteOptions>();
    cli::Command& command = bench.add_subcommand(
        "suite", "Products, attention, training steps and generation within a time, for comparisons");
    add_common(command, common);
    command.add_option("--minutes", o->minutes, "Time for all measurements; sizes rise until it is over")
        .type_name("M")
        .check(at_least(0.01))
        .capture_default_str();
    command.add_option("--only", o->only, "Only measurements whose family, name, shape and precision match")
        .type_name("PATTERN");
    o->declare_files(command);
    command.footer(
        "Examples:\n"
        "  vkformer bench suite --out report.json --html report.html\n"
        "  vkformer bench suite --minutes 2 --only 'step|generate'\n"
        "  vkformer bench compare report.json another.json --html comparison.html\n"
        "\n"
        "Every computation is measured in fp32 and in 16 bits (--half), models with standard attention and with\n"
        "belief-star, at sizes that rise until memory or time ends: reports of unlike devices have the small ones in\n"
        "common. The report lists everything that was left out, with reasons.");
    command.callback([o, &common] {
        o->precision = text("fp32 and ", common.half == "float16" ? "float16" : "bfloat16");
        o->seconds = std::clamp(o->minutes, 0.01, 1.0) * 0.5;
        bench_suite(common, *o);
    });
}

}  // namespace vkf
