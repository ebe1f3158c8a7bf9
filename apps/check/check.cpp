// vkformer check: the kernels of every op on a device, against references in double precision.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/check/check_faults.h"
#include "apps/check/check_options.h"
#include "apps/check/check_process.h"
#include "apps/check/check_run.h"
#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/matrix_trial.h"
#include "apps/cli/option_values.h"
#include "base/files/file.h"
#include "base/files/managed_directory.h"
#include "base/text/json_text.h"
#include "checks/check_plan.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

/// Throws InputError unless the directory is new or empty.
void require_new_directory(const std::string& path) {
    std::error_code ignored;
    require(!fs::exists(path, ignored) || (fs::is_directory(path, ignored) && fs::is_empty(path, ignored)),
            "--out-dir ", path, " has files, wanted a new or empty directory");
}

void write_report(const CheckReport& report, const std::string& directory) {
    ManagedDirectory out = ManagedDirectory::claim(directory);
    out.publish([&](const fs::path& folder) {
        write_atomically(folder / "check.json", document_text(document(report)));
        write_atomically(folder / "check.md", markdown(report));
        write_atomically(folder / "check.html", html_page(report));
    });
}

/// Name of a directory that does not exist yet: check-failures, check-failures-2, ….
std::string new_directory() {
    std::string name = "check-failures";
    std::error_code ignored;
    for (int i = 2; fs::exists(name, ignored); ++i) name = text("check-failures-", i);
    return name;
}

/// Keeps the faults for later runs and, of a run over all tables, the verdict for reports; and folders that repeat
/// what failed.
void keep_results(const Common& common, const CheckOptions& options, const CheckReport& report) {
    Device device(wanted_device(common), pretence(options), matrix_trial());
    TuningCache results = faults_of(report);
    if (options.only.empty() && options.skip.empty())
        results.checked = {report.head.date, std::ssize(report.results), std::ssize(report.failed())};
    if (const auto place = tuning_cache_place(); place && options.pretend.empty())
        add_faults(device.info(), *place, results);
    if (report.failed().empty()) return;
    const std::string directory = options.out_dir.empty() ? new_directory() : options.out_dir;
    write_failures(common, options, report, device, directory);
    note(common, text("cases to repeat with `vkformer check --replay` are in ", directory));
}

void forget(const Common& common) {
    Device device(wanted_device(common), {}, matrix_trial());
    const auto place = tuning_cache_place();
    const std::size_t count = place ? forget_faults(device.info(), *place) : 0;
    print(text("forgot ", count, count == 1 ? " fault" : " faults", " of ", device.info().name, ", ",
               device.info().driver, '\n'));
}

void repeat(const Common& common, const CheckOptions& options) {
    const CheckResult result = replay(common, options);
    if (common.json) print_json(document(result));
    if (!result.failures.empty()) throw Error(result.name, ": ", result.failures.front());
    if (!common.json) print(text(result.name, ": right, largest error ", fixed(result.worst, 2), " of its bound\n"));
}

/// Throws InputError for options that would have no effect.
void require_effective(const Common& common, const CheckOptions& options) {
    const Common standard;
    require(
        common.precision == standard.precision && common.half == standard.half && common.kernels == standard.kernels,
        "check goes through all formats and kernels: --precision, --half and --kernels have no effect on it");
    const bool chosen = !options.only.empty() || !options.skip.empty() || !options.pretend.empty();
    const bool whole_run = options.quick || options.minutes > 0 || !options.out_dir.empty();
    const int alone = options.forget + !options.replay.empty() + (options.try_matrices >= 0);
    require(alone <= (chosen || whole_run || options.in_process ? 0 : 1),
            options.forget           ? "--forget"
            : options.replay.empty() ? "--try-matrices"
                                     : "--replay",
            " does nothing else: wanted it without options of checks");
    require(!options.in_process || !(whole_run || options.patience > 0),
            "--in-process has no limit of time and no report: wanted it without --quick, --minutes, --patience and "
            "--out-dir");
}

void run(const Common& common, const CheckOptions& options) {
    require_effective(common, options);
    checks::require_tables(options.only);
    checks::require_tables(options.skip);
    if (options.try_matrices >= 0) return try_matrices(common, options.try_matrices);
    if (options.in_process) return check_in_process(common, options);
    if (options.forget) return forget(common);
    if (!options.replay.empty()) return repeat(common, options);
    if (!options.out_dir.empty()) require_new_directory(options.out_dir);
    const CheckReport report = check_device(common, options);
    if (!options.out_dir.empty()) write_report(report, options.out_dir);
    if (common.json)
        print_json(document(report));
    else
        print((report.right() ? "" : table(failure_rows(report))) + summary(report) + '\n');
    keep_results(common, options, report);
    if (!report.right()) {
        const std::size_t wrong = report.failed().size() + report.differences.size();
        throw Error(wrong, wrong == 1 ? " check has failed" : " checks have failed", " on ", report.head.device, ", ",
                    report.head.driver);
    }
}

}  // namespace

void add_check(cli::Command& app, Common& common) {
    cli::Command& command =
        app.add_subcommand("check", "Every op on this device, forward and backward, against double precision");
    auto options = std::make_shared<CheckOptions>();
    command.add_flag("--quick", options->quick, "One minute instead of five");
    command.add_option("--minutes", options->minutes, "Time after which no more checks begin [5, or 1 with --quick]")
        .type_name("X")
        .check(number({.least = 1e-4, .most = 1e6}))
        .excludes("--quick");
    command.add_option("--only", options->only, "Table of ops, as in the report; may be given several times")
        .type_name("OPS")
        .one_word_each();
    command.add_option("--skip", options->skip, "Table of ops that is not checked; may be given several times")
        .type_name("OPS")
        .one_word_each();
    command.add_option("--pretend", options->pretend, "Kernels as for another device: gpu, or small-gpu, the least one")
        .type_name("gpu|small-gpu")
        .check(one_of({"gpu", "small-gpu"}));
    command.add_option("--out-dir", options->out_dir, "New directory for check.md, check.json and check.html")
        .type_name("DIR");
    command.add_option("--replay", options->replay, "Repeats the check of a folder that a failed check has left")
        .type_name("DIR");
    command.add_flag("--forget", options->forget, "Lets kernels be used again that failed on this driver");
    command.add_option("--patience", options->patience, "Seconds after which a check hangs [60, on a CPU 600]")
        .type_name("N")
        .check(whole(1));
    command.add_flag("--in-process", options->in_process,
                     "In this process, which a driver may end, with a line of JSON before and after each check");
    command.add_option("--first", options->first, "First check, a number from 0 on")
        .type_name("N")
        .check(whole(0))
        .needs("--in-process");
    command.add_option("--step", options->step, "Every N-th check")
        .type_name("N")
        .check(whole(1))
        .needs("--in-process");
    command.add_option("--most", options->most, "Number of checks [all]")
        .type_name("N")
        .check(whole(1))
        .needs("--in-process");
    command
        .add_option("--try-matrices", options->try_matrices,
                    "Only asks for cooperative matrices and tries them from the N-th kind on, in this process")
        .type_name("N")
        .check(whole(0));
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer check --quick\n"
        "  vkformer check --only kv_cache_append --only glu --out-dir checked\n"
        "\n"
        "Compares results and gradients with references in double, on odd sizes, in fp32, bfloat16 and float16 "
        "storage,\n"
        "with each kernel that the device could choose; looks for writes outside of tensors, for reads of memory that\n"
        "was never written, for bits that differ between runs, and between processes at once. Checks run in processes\n"
        "of their own: a driver that crashes or hangs is named, and the others go on. What fails is not used on this\n"
        "driver from then on, and can be repeated alone. Status 1 if any check fails.\n");
    command.callback([options, &common] { run(common, *options); });
}

}  // namespace vkf
