// vkformer bench kernels: every kernel family at the sizes of real models, against the device's own peak.

#include <memory>
#include <regex>

#include "apps/bench_cases.h"
#include "apps/bench_peak.h"
#include "apps/bench_report.h"
#include "apps/progress.h"
#include "base/file.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

struct Options {
    double seconds = 0.5;
    std::string only, out, markdown_file;
};

/// The cases whose line in the table holds the pattern.
std::vector<Case> chosen(const std::string& pattern) {
    std::vector<Case> list = kernel_cases();
    try {
        const std::regex wanted(pattern, std::regex::icase);
        std::erase_if(list, [&](const Case& c) {
            return !std::regex_search(text(c.family, ' ', c.name, ' ', c.shape, ' ', c.layout), wanted);
        });
    } catch (const std::regex_error&) {
        throw InputError("--only is '", pattern, "', which is no regular expression");
    }
    require(!list.empty(), "--only is '", pattern, "', which no kernel's family, name, shape and layout match");
    return list;
}

void bench_kernels(const Common& common, const Options& o) {
    const std::vector<Case> cases = chosen(o.only);
    for (const std::string& file : {o.out, o.markdown_file})
        if (!file.empty()) require_directory_of(file);
    catch_interrupts();
    with_device(common, [&](Device& device) {
        Progress progress(common, "bench kernels", "kernels", std::ssize(cases));
        const Peak peak = measure_peak(device, o.seconds);
        BenchReport report = begin_report(device);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            std::string reason;
            if (auto made = time_case(device, cases[i], {.seconds = o.seconds, .peak = peak}, reason))
                report.measurements.push_back(std::move(*made));
            else
                progress.line(text("left out: ", cases[i].name, ' ', cases[i].shape, ": ", reason));
            progress.update(static_cast<std::int64_t>(i + 1), cases[i].name);
        }
        // Once more: what else the machine does may have disturbed one of them, and nothing raises them.
        report.peak = higher(peak, measure_peak(device, o.seconds));
        const auto rows = rows_of(report);
        if (!o.out.empty()) write_atomically(o.out, document(report).dump(2) + "\n");
        if (!o.markdown_file.empty()) write_atomically(o.markdown_file, heading(report) + "\n" + markdown(rows));
        if (common.json) return print_json(document(report));
        print(heading(report) + "\n" + table(rows));
    });
}

}  // namespace

void add_bench_kernels(CLI::App& bench, Common& common) {
    auto o = std::make_shared<Options>();
    CLI::App* command = bench.add_subcommand("kernels", "Time, FLOP/s and bytes/s of every kernel, beside the peak");
    add_common(*command, common);
    command->add_option("--seconds", o->seconds, "Length of each measurement")
        ->type_name("S")
        ->check(at_least(0.001))
        ->capture_default_str();
    command->add_option("--only", o->only, "Only kernels whose family, name, shape and layout match")
        ->type_name("PATTERN");
    command->add_option("--out", o->out, "Write the JSON document here too")->type_name("FILE.json");
    command->add_option("--markdown", o->markdown_file, "Write the table as Markdown")->type_name("FILE.md");
    command->callback([o, &common] { bench_kernels(common, *o); });
}

}  // namespace vkf
