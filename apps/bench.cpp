// vkformer bench: how fast the parts are that training is made of.

#include "apps/bench.h"

#include "apps/commands.h"

namespace vkf {

Timing timing_of(std::vector<double> seconds) {
    std::ranges::sort(seconds);
    const std::size_t count = seconds.size();
    return {(seconds[(count - 1) / 2] + seconds[count / 2]) / 2, seconds.front(), seconds.back(), std::ssize(seconds)};
}

void add_bench(CLI::App& app, Common& common) {
    CLI::App* command = app.add_subcommand("bench", "Measure how fast the parts of training are");
    command->require_subcommand(1);
    command->footer(
        "Examples:\n"
        "  vkformer bench kernels\n"
        "  vkformer bench images");
    add_bench_kernels(*command, common);
    add_bench_images(*command, common);
}

}  // namespace vkf
