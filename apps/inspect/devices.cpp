// vkformer devices: lists devices, their features, the reasons of refusals, and the default.

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/matrix_trial.h"
#include "apps/inspect/facts_document.h"
#include "program/autotuner.h"
#include "vulkan/cpu/lavapipe.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

std::string joined(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : " ") + word;
    return list;
}

const char* yes(bool value) {
    return value ? "yes" : "no";
}

/// Extensions, and the first usable shape of each element type.
std::string matrices(const DeviceInfo& d) {
    std::string list = d.cooperative_matrix2 ? "KHR, NV2" : d.cooperative_matrix ? "KHR" : "no";
    std::set<MatrixElement> listed;
    for (const MatrixShape& at : d.matrices)
        if (listed.insert(at.element).second)
            list += text(listed.size() == 1 ? ": " : ", ", to_string(at.element), ' ', at.m, "x", at.n, "x", at.k);
    return list;
}

ordered_json describe(const std::vector<GroupMatrices>& groups) {
    ordered_json list = ordered_json::array();
    for (const GroupMatrices& at : groups)
        list.push_back({{"element", to_string(at.element)}, {"invocations", at.group}});
    return list;
}

ordered_json describe(const std::vector<MatrixShape>& shapes) {
    ordered_json list = ordered_json::array();
    for (const MatrixShape& at : shapes)
        list.push_back({{"element", to_string(at.element)}, {"m", at.m}, {"n", at.n}, {"k", at.k}});
    return list;
}

ordered_json describe(const std::vector<MissingFeature>& missing) {
    ordered_json list = ordered_json::array();
    for (const MissingFeature& at : missing) list.push_back({{"name", at.name}, {"cost", at.cost}});
    return list;
}

/// Results of earlier runs on the kernels of a device; nothing if they cannot be read.
TuningCache known_kernels(const DeviceInfo& d) {
    try {
        if (const auto place = tuning_cache_place()) return read_tuning_cache(d, *place);
    } catch (const std::exception&) {
        // Commands that need the cache report the error.
    }
    return {};
}

ordered_json describe(const TuningCache& known) {
    ordered_json list = ordered_json::array();
    for (const auto& [kind, result] : known.chosen)
        list.push_back({{"kind", kind}, {"kernel", result.kernel}, {"gflops", result.gflops}});
    return list;
}

/// Reasons by "FAMILY: CANDIDATE".
std::map<std::string, std::string> left_out(const TuningCache& known) {
    std::map<std::string, std::string> made;
    for (const auto& [family, candidates] : known.refused)
        for (const auto& [candidate, reason] : candidates) made[family + ": " + candidate] = reason;
    for (const auto& [part, fault] : known.matrices.value_or(MatrixFaults())) made["matrices: " + part] = fault;
    return made;
}

/// One line per kind of computation with a chosen kernel, followed by the measured kernels, fastest first.
std::string lines(const DeviceInfo& d, const TuningCache& known) {
    std::string all;
    for (const auto& [kind, result] : known.chosen) {
        std::vector<std::pair<double, std::string>> speeds;
        for (const auto& [kernel, gflops] : result.gflops) speeds.emplace_back(gflops, kernel);
        std::ranges::sort(speeds, std::greater<>());
        all += text("chosen: ", d.index, ' ', kind.substr(0, kind.find(':')), ": ", result.kernel);
        for (const auto& [gflops, kernel] : speeds)
            all += text(kernel == speeds.front().second ? " (" : ", ", kernel, ' ', fixed(gflops, 1));
        all += speeds.empty() ? "\n" : " GFLOP/s)\n";
    }
    for (const auto& [kernel, reason] : left_out(known))
        all += text("left out: ", d.index, ' ', kernel, ": ", reason, '\n');
    for (const auto& [check, fault] : known.wrong) all += text("wrong: ", d.index, ' ', check, ": ", fault, '\n');
    return all;
}

ordered_json describe(const DeviceInfo& d, bool chosen) {
    const TuningCache known = known_kernels(d);
    return {{"index", d.index},
            {"name", d.name},
            {"kind", to_string(d.kind)},
            {"default", chosen},
            {"usable", d.refusal.empty()},
            {"refusal", d.refusal},
            {"missing", describe(d.missing)},
            {"driver", d.driver},
            {"api_version", d.api_version},
            {"compute_units", d.compute_units.count},
            {"compute_units_source", d.compute_units.source},
            {"subgroup_size", d.subgroup_size},
            {"max_group", d.max_group},
            {"shared_bytes", d.shared_bytes},
            {"push_constant_bytes", d.push_constant_bytes},
            {"memory_bytes", d.memory_bytes},
            {"max_buffer_bytes", d.max_buffer_bytes},
            {"timestamp_ns", d.timestamp_ns},
            {"fp16", d.fp16},
            {"storage16", d.storage16},
            {"int64", d.int64},
            {"cooperative_matrix", d.cooperative_matrix},
            {"cooperative_matrix2", d.cooperative_matrix2},
            {"matrices", describe(d.matrices)},
            {"workgroup_matrices", describe(d.workgroup_matrices)},
            {"kernels", kernel_implementations(d)},
            {"chosen", describe(known)},
            {"left_out", left_out(known)},
            {"wrong", known.wrong}};
}

void run(const Common& common) {
    const std::vector<DeviceInfo> list =
        list_devices(matrix_trial([&](const std::string& line) { note(common, line); }));
    if (list.empty()) throw Error("no Vulkan device: install a driver (", cpu_driver_advice, ')');
    // The default is found by opening a device, with the code of every other subcommand.
    std::uint32_t chosen = 0;
    std::string none_usable;
    try {
        with_device(common, [&](Device& device) { chosen = device.info().index; });
    } catch (const InputError&) {
        throw;  // --device matches no device
    } catch (const Error& error) {
        none_usable = error.what();
    }
    const auto is_default = [&](const DeviceInfo& d) { return none_usable.empty() && d.index == chosen; };

    ordered_json documents = ordered_json::array();
    std::vector<std::vector<std::string>> rows{{"", "index", "name", "kind", "API", "subgroup", "memory", "fp16",
                                                "16-bit storage", "matrices", "kernels", "driver"}};
    std::string refusals, missing, units, kernels;
    for (const DeviceInfo& d : list) {
        documents.push_back(describe(d, is_default(d)));
        rows.push_back({is_default(d) ? "*" : "", text(d.index), d.name, std::string(to_string(d.kind)), d.api_version,
                        text(d.subgroup_size), bytes_text(static_cast<double>(d.memory_bytes)), yes(d.fp16),
                        yes(d.storage16), matrices(d), joined(kernel_implementations(d)), d.driver});
        units += text("compute units: ", d.index, ' ', d.compute_units.count, " (", d.compute_units.source, ")\n");
        kernels += lines(d, known_kernels(d));
        if (!d.refusal.empty()) refusals += text("refused: ", d.index, ' ', d.name, ": ", d.refusal, '\n');
        for (const MissingFeature& at : d.missing)
            missing += text("missing: ", d.index, ' ', at.name, ": ", at.cost, '\n');
    }
    if (common.json) {
        const std::vector<DeviceFacts> facts = list_device_facts(matrix_trial());
        for (std::size_t i = 0; i < std::min(facts.size(), documents.size()); ++i)
            documents[i].update(document(facts[i]));
        print_json(ordered_json{{"devices", documents}});
    } else {
        print(table(rows) + refusals + missing + units + kernels +
              "* is used unless --device or VKFORMER_DEVICE says otherwise\n");
    }
    if (!none_usable.empty()) throw Error(none_usable);
}

}  // namespace

void add_devices(cli::Command& app, Common& common) {
    cli::Command& command =
        app.add_subcommand("devices", "Every Vulkan device, what it can do, why one was refused; * is the default");
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer devices\n"
        "  vkformer devices --json\n"
        "\n"
        "The JSON document also has what drivers list: every cooperative matrix, with why it is not used, queue\n"
        "families, memory, limits, extensions.");
    command.callback([&common] { run(common); });
}

}  // namespace vkf
