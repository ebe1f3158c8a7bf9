// vkformer bench: measures the speed of the parts of training.

#include "apps/bench/bench.h"

#include <chrono>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/interrupts.h"
#include "apps/report/spread.h"

namespace vkf {

Timing timing_of(std::vector<double> seconds) {
    std::ranges::sort(seconds);
    const std::size_t count = seconds.size();
    return {(seconds[(count - 1) / 2] + seconds[count / 2]) / 2, seconds.front(), seconds.back(), std::ssize(seconds),
            spread_of(seconds).deviation};
}

std::string matrix_element(std::string_view kernel) {
    if (kernel.find("coopmat") == std::string_view::npos) return {};
    return kernel.find("_bf16") == std::string_view::npos ? "fp16" : "bf16";
}

Timing time_calls(double seconds, const std::function<void()>& call, std::int64_t calls) {
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    std::vector<double> samples;
    call();
    const auto start = Clock::now();
    do {
        stop_if_interrupted();
        const auto from = Clock::now();
        call();
        samples.push_back(since(from));
    } while (since(start) < seconds || std::ssize(samples) < calls);
    return timing_of(std::move(samples));
}

void add_bench(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("bench", "Measure how fast the parts of training are");
    command.require_subcommand();
    command.footer(
        "Examples:\n"
        "  vkformer bench kernels\n"
        "  vkformer bench step --model small-gpt --by-op\n"
        "  vkformer bench generate --model gpt2\n"
        "  vkformer bench images\n"
        "  vkformer bench compile --only matmul\n"
        "  vkformer bench suite --minutes 5 --out report.json\n"
        "  vkformer bench compare a.json b.json c.json\n"
        "  vkformer bench export a.json --as csv --out a.csv");
    add_bench_kernels(command, common);
    add_bench_step(command, common);
    add_bench_generate(command, common);
    add_bench_images(command, common);
    add_bench_compile(command, common);
    add_bench_suite(command, common);
    add_bench_compare(command, common);
    add_bench_export(command, common);
}

}  // namespace vkf
