// vkformer watch: the curves of a run in the terminal, while it goes on.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "apps/cli/terminal.h"
#include "apps/plots/text_plot.h"
#include "apps/report/run_log.h"
#include "base/os/os.h"

namespace vkf {

namespace {

constexpr std::size_t ROWS = 12, MOST_COLUMNS = 160;

struct WatchOptions {
    std::string run, metric;
    double seconds = 2;
    bool once = false;
};

/// Last value of a metric, or nothing.
std::optional<double> last(const RunLog& run, const std::string& metric) {
    const Series* series = run.find(metric);
    if (!series || series->values.empty()) return std::nullopt;
    return series->values.back();
}

/// Metrics to draw: the one that is wanted, or validation and training loss.
std::vector<std::string> metrics_of(const WatchOptions& o) {
    if (o.metric.empty()) return {"val_loss", "loss"};
    return {o.metric};
}

/// Number of steps that the run will have, if train.toml says it.
std::optional<double> wanted_steps(const RunLog& run) {
    return read_number(run.option("max-iters"));
}

/// Last step that the run has logged.
double last_step(const RunLog& run) {
    double step = 0;
    for (const auto& [name, series] : run.series) step = std::max(step, series.steps.back());
    return step;
}

/// "step 1200 of 2000, loss 1.9031, val_loss 1.9502, 5120 tokens/s, 1:20 left".
std::string status_line(const RunLog& run) {
    const double step = last_step(run);
    const std::optional<double> steps = wanted_steps(run);
    std::string line = text("step ", step);
    if (steps) line += text(" of ", *steps);
    for (const char* name : {"loss", "val_loss", "val_accuracy"})
        if (const auto value = last(run, name)) line += text(", ", name, ' ', fixed(*value, 4));
    for (const auto& [name, series] : run.series)
        if (name.ends_with("_per_s"))
            line += text(", ", std::llround(series.values.back()), ' ', name.substr(0, name.size() - 6), "/s");
    if (const auto ms = last(run, "ms"); ms && steps && *steps > step + 1)
        line += ", " + duration_text((*steps - step - 1) * *ms / 1000) + " left";
    return line;
}

std::string picture(const WatchOptions& o, const RunLog& run, std::size_t columns) {
    std::vector<TextCurve> curves;
    for (const std::string& metric : metrics_of(o))
        if (const Series* series = run.find(metric)) curves.push_back({metric, series->steps, series->values});
    require(!curves.empty(), o.run, ": metrics.jsonl has no ", o.metric.empty() ? "loss" : o.metric, " yet");
    return text_plot(curves, std::clamp<std::size_t>(columns, 24, MOST_COLUMNS), ROWS) + status_line(run) + '\n';
}

/// True if the run has done all its steps.
bool has_ended(const RunLog& run) {
    const std::optional<double> steps = wanted_steps(run);
    return steps && last_step(run) >= *steps;
}

/// The last number of every metric.
nlohmann::ordered_json document(const RunLog& run) {
    nlohmann::ordered_json made{{"step", last_step(run)}};
    if (const auto steps = wanted_steps(run)) made["steps"] = *steps;
    for (const auto& [name, series] : run.series) made[name] = series.values.back();
    return made;
}

void watch(const Common& common, const WatchOptions& o) {
    RunLog run = read_run_log(o.run);
    if (common.json) return print_json(document(run));
    const bool terminal = rewrites_lines(os::STANDARD_OUTPUT);
    const auto columns = [] { return terminal_columns(os::STANDARD_OUTPUT) - 1; };
    if (o.once || !terminal || has_ended(run)) return print(picture(o, run, columns()));
    catch_interrupts();
    for (bool first = true;; first = false) {
        print((first ? "\x1b[2J\x1b[H" : "\x1b[H") + picture(o, run, columns()) + "\x1b[J");
        if (has_ended(run)) return;
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(o.seconds);
        while (std::chrono::steady_clock::now() < until) {
            stop_if_interrupted();
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        run = read_run_log(o.run);
    }
}

}  // namespace

void add_watch(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("watch", "Curves of a training run in the terminal, while it goes on");
    auto o = std::make_shared<WatchOptions>();
    command.add_option("run", o->run, "Directory of the run").required().type_name("DIR");
    command.add_option("--metric", o->metric, "Member of metrics.jsonl to draw [val_loss and loss]").type_name("NAME");
    command.add_option("--interval", o->seconds, "Seconds between pictures")
        .type_name("S")
        .capture_default_str()
        .check(number({.least = 0.1, .most = 3600}));
    command.add_flag("--once", o->once, "Draw once, as also if standard output is no terminal");
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer watch out\n"
        "  vkformer watch out --once --metric grad_norm\n"
        "\n"
        "Ends with the run, if train.toml says how many steps that has, or at Ctrl-C.\n");
    command.callback([o, &common] { watch(common, *o); });
}

}  // namespace vkf
