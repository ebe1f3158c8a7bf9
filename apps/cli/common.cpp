#include "apps/cli/common.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/cli/command.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/matrix_trial.h"
#include "apps/cli/option_values.h"
#include "apps/cli/raw_output.h"
#include "apps/cli/terminal.h"
#include "apps/cli/tuning_progress.h"
#include "base/files/file.h"
#include "base/files/private_folder.h"
#include "base/os/os.h"
#include "base/text/json_text.h"
#include "base/text/plain_text.h"
#include "ops/tuning.h"
#include "program/autotuner.h"
#include "vulkan/device/device.h"

namespace vkf {

// --- Options -------------------------------------------------------------------------------------

void add_common(cli::Command& app, Common& common) {
    app.add_option("--device", common.device,
                   "Device to work on, see `vkformer devices`; else $VKFORMER_DEVICE, else the best")
        .type_name("INDEX|NAME")
        .take_last()
        .group("Everywhere");
    app.add_option("--precision", common.precision,
                   "mixed: activations in 16 bits; sums, norms, weights and the optimizer in fp32")
        .type_name("fp32|mixed")
        .check(one_of({"fp32", "mixed"}))
        .capture_default_str()
        .take_last()
        .group("Everywhere");
    app.add_option(
           "--kernels", common.kernels,
           "How products and attention are computed: auto tries what the device has, once, and keeps the fastest")
        .type_name("auto|subgroup|tile|coopmat|coopmat2")
        .transform([](const std::string& name) { return name == "lanes" ? "subgroup" : name; })  // its former name
        .check(one_of({"auto", "subgroup", "tile", "coopmat", "coopmat2"}))
        .capture_default_str()
        .take_last()
        .group("Everywhere");
    app.add_option("--half", common.half,
                   "The 16 bits of --precision mixed; float16 trains with dynamic loss scaling [bfloat16]")
        .type_name("bfloat16|float16")
        .check(one_of({"bfloat16", "float16"}))
        .take_last()
        .group("Everywhere");
    app.add_option("--seed", common.seed, "Where all random numbers come from")
        .type_name("N")
        .check(whole(0, std::numeric_limits<std::int64_t>::max()))
        .capture_default_str()
        .take_last()
        .group("Everywhere");
    app.add_flag("--json", common.json, "One JSON document on standard output").group("Everywhere");
    app.add_flag("--quiet", common.quiet, "No progress, no notes").group("Everywhere");
}

// --- Device --------------------------------------------------------------------------------------

std::string wanted_device(const Common& common) {
    if (!common.device.empty()) return common.device;
    return os::environment("VKFORMER_DEVICE").value_or("");
}

std::optional<TuningCachePlace> tuning_cache_place() {
    const auto folder = private_cache_folder();
    return folder ? std::optional(TuningCachePlace{*folder, tuned_kernels()}) : std::nullopt;
}

namespace {

/// Notes that a cache folder into which others may write is not used, because its contents become code.
void note_foreign_cache(const Common& common) {
    const auto folder = cache_folder();
    if (folder && make_private_folder(*folder) == FolderOwner::foreign)
        note(common, text("the cache ", folder->string(),
                          " is not used: wanted a folder of yours that nobody else can write into (chmod 700)"));
}

}  // namespace

namespace {

/// Notes the ops whose results `vkformer check` found wrong on this driver.
void note_faults(const Common& common, const Device& device) {
    try {
        const auto place = tuning_cache_place();
        const TuningCache known = place ? read_tuning_cache(device.info(), *place) : TuningCache();
        if (known.wrong.empty()) return;
        note(common, text("on this driver ", known.wrong.size(), " checks have failed, the first one ",
                          known.wrong.begin()->first, " (", known.wrong.begin()->second,
                          "): `vkformer check` repeats them, `vkformer check --forget` drops this note"));
    } catch (const InputError&) {
        // The cache is made anew.
    }
}

}  // namespace

void with_device(const Common& common, const std::function<void(Device&)>& work) {
    require(!common.kernels.starts_with("coopmat") || common.activations() != Format::f32, "--kernels is ",
            common.kernels, ", which rounds what products multiply to 16 bits: wanted --precision mixed beside it");
    note_foreign_cache(common);
    TuningProgress shown(common);
    Device device(wanted_device(common), {}, matrix_trial([&](const std::string& line) { note(common, line); }));
    note_faults(common, device);
    AutotunerOptions options{.implementation = common.kernels,
                             .cache = tuning_cache_place(),
                             .tell = [&](const std::string& line) { shown.tell(line); },
                             .progress = [&](std::string_view title, std::string_view unit, std::size_t done,
                                             std::size_t all) { shown.update(title, unit, done, all); },
                             .interrupted = interrupted};
    // A CPU device tries out only implementations that the user named.
    if (device.info().kind == DeviceKind::cpu) options.budget_s = std::numeric_limits<double>::infinity();
    device.attach<Autotuner>(std::make_shared<DeviceAutotuner>(device, std::move(options)));
    try {
        work(device);
    } catch (const TuningInterrupted&) {
        throw Interrupted();
    }
    const std::uint64_t messages = device.validation_messages();
    if (messages > 0) throw Error("the validation layers had ", messages, " messages, wanted none");
}

// --- Standard output -----------------------------------------------------------------------------

void print(std::string_view text) {
    print_as_is(plain_text(text));
}

void print_json(const nlohmann::ordered_json& document) {
    print_as_is(document_text(document));
}

namespace {

/// Rows with each cell as a short plain line.
std::vector<std::vector<std::string>> plain_rows(std::vector<std::vector<std::string>> rows) {
    constexpr std::size_t longest = 400;  // bytes
    for (auto& row : rows)
        for (std::string& cell : row) cell = plain_line(cell, longest);
    return rows;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    std::vector<bool> numeric;  // every cell below the heading starts with a digit
    for (std::size_t r = 0; r < rows.size(); ++r) {
        widths.resize(std::max(widths.size(), rows[r].size()), 0);
        numeric.resize(widths.size(), true);
        for (std::size_t i = 0; i < rows[r].size(); ++i) {
            const std::string& cell = rows[r][i];
            widths[i] = std::max(widths[i], columns_of(cell));
            if (r > 0 && !cell.empty() && !std::strchr("0123456789-", cell[0])) numeric[i] = false;
        }
    }
    std::string lines;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - columns_of(row[i]), ' ');
            line += (i ? "  " : "") + (numeric[i] ? space + row[i] : row[i] + space);
        }
        lines += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return lines;
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
    return aligned(plain_rows(rows));
}

namespace {

std::string scaled(double value, double step, std::span<const char* const> units) {
    std::size_t unit = 0;
    while (value >= step && unit + 1 < units.size()) value /= step, ++unit;
    const bool exact = unit == 0 && value == std::floor(value);
    const std::string_view name = units[unit];
    return text(fixed(value, exact ? 0 : value < 10 ? 2 : 1), name.empty() ? "" : " ", name);
}

}  // namespace

std::string bytes_text(double bytes) {
    constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
    return scaled(bytes, 1024, units);
}

std::string count_text(double count) {
    constexpr std::array units{"", "k", "M", "G", "T", "P", "E"};
    return scaled(count, 1000, units);
}

std::string fixed(double value, int digits) {
    return text(std::fixed, std::setprecision(digits), value);
}

std::string percent_text(double share) {
    return std::isnan(share) ? "none" : fixed(100 * share, 2) + " %";
}

void note(const Common& common, std::string_view text) {
    if (common.quiet) return;
    tell(vkf::text("vkformer: note: ", text));
}

void require_directory_of(const std::string& output) {
    const std::filesystem::path folder = std::filesystem::absolute(output).parent_path();
    std::error_code ignored;
    require(std::filesystem::is_directory(folder, ignored), "output ", output, ": there is no directory ",
            folder.string());
}

}  // namespace vkf
