#include "apps/check/check_faults.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <variant>

#include "apps/check/check_options.h"
#include "apps/check/check_run.h"
#include "apps/cli/common.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/files/managed_directory.h"
#include "base/files/safetensors.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "checks/case_graph.h"
#include "checks/check_plan.h"
#include "passes/run_passes.h"
#include "vulkan/device/device.h"
#include "vulkan/kernel/spirv.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;
using checks::CheckItem;
using nlohmann::ordered_json;

constexpr const char* case_file = "case.json";

/// A check's name as the name of a folder: letters and digits stay, all other characters become '-'.
std::string folder_name(const std::string& check) {
    std::string name;
    for (const char c : check)
        if (std::isalnum(static_cast<unsigned char>(c)))
            name += c;
        else if (!name.empty() && name.back() != '-')
            name += '-';
    return name;
}

/// A file with the arrays of these names, in double.
void write_arrays(const fs::path& path, const Arrays& arrays) {
    std::vector<TensorSource> sources;
    for (const auto& [name, array] : arrays)
        sources.push_back({name,
                           StoredType::F64,
                           {array.shape.extents().begin(), array.shape.extents().end()},
                           [&values = array.at](FileWriter& file) { file.write(std::as_bytes(std::span(values))); }});
    write_safetensors(path, sources);
}

/// Dispatches of the graph in order, each with its kernel's constants and workgroups; SPIR-V goes into the folder.
ordered_json write_kernels(const fs::path& folder, const checks::CaseGraph& graph, const DeviceTraits& device) {
    ordered_json list = ordered_json::array();
    std::set<std::string> written;
    for (const auto& [op, dispatch] : dispatches_of(graph, device)) {
        ordered_json constants = ordered_json::object();
        for (const auto& [name, value] : dispatch.constants)
            std::visit([&](const auto& plain) { constants[name] = plain; }, value);
        list.push_back(
            {{"op", op}, {"kernel", dispatch.kernel}, {"constants", constants}, {"groups", dispatch.groups}});
        for (const SpirvModule& module : embedded_spirv())
            if (module.name == dispatch.kernel && written.insert(dispatch.kernel).second)
                write_atomically(
                    folder / (dispatch.kernel + ".spv"),
                    std::string_view(reinterpret_cast<const char*>(module.words.data()), module.words.size_bytes()));
    }
    return list;
}

}  // namespace

TuningCache faults_of(const CheckReport& report) {
    std::set<std::pair<std::string, std::string>> passed;
    for (const CheckResult& result : report.results)
        if (result.failures.empty()) passed.insert(result.chosen.begin(), result.chosen.end());
    TuningCache faults;
    for (const CheckResult* failed : report.failed()) {
        const auto never_right = [&](const auto& chosen) { return !passed.contains(chosen); };
        const bool some = std::ranges::any_of(failed->chosen, never_right);
        // Faults of matrices are kept by their trial.
        const bool kept = failed->name == text("device: ", checks::matrices_probe);
        if (failed->chosen.empty() && !kept) faults.wrong[failed->name] = failed->failures.front();
        for (const auto& [family, candidate] : failed->chosen)
            if (!some || never_right(std::pair(family, candidate)))
                faults.refused[family][candidate] = text(failed->name, ": ", failed->failures.front());
    }
    return faults;
}

void write_failures(const Common& common, const CheckOptions& options, const CheckReport& report, const Device& device,
                    const std::string& directory) {
    constexpr std::size_t most = 16;
    const std::vector<const CheckResult*> failed = report.failed();
    const checks::CheckTraits traits = check_traits(device, options);
    const std::vector<CheckItem> plan = checks::check_plan(traits, common.seed, options.only);
    ManagedDirectory out = ManagedDirectory::claim(directory);
    for (std::size_t i = 0; i < std::min(most, failed.size()); ++i) {
        const CheckResult& result = *failed[i];
        if (result.index >= plan.size()) continue;  // the end of a process
        const CheckItem& item = plan[result.index];
        if (item.rows || item.probe) continue;  // has no operands of its own
        out.publish_folder(folder_name(result.name), [&](const fs::path& folder) {
            checks::CaseGraph graph(item.c, differentiable(item.c), item.format);
            run_passes(graph.graph, {.fuse_elementwise = false});
            checks::ChosenCandidate chosen(item.choice);
            DeviceTraits lowering = traits.of(item);
            lowering.autotuner = &chosen;
            ordered_json made = document(report.head);
            made["build"] = std::to_string(report.kernels);
            made["check"] = result.name;
            made["index"] = result.index;
            made["seed"] = common.seed;
            made["only"] = options.only;
            made["pretend"] = options.pretend;
            made["failures"] = result.failures;
            made["dispatches"] = write_kernels(folder, graph, lowering);
            write_arrays(folder / "inputs.safetensors", graph.leaves);
            write_arrays(folder / "expected.safetensors", interpret(graph.graph, graph.leaves));
            write_atomically(folder / case_file, document_text(made));
        });
    }
}

CheckResult replay(const Common& common, const CheckOptions& options) {
    const fs::path path = fs::path(options.replay) / case_file;
    const nlohmann::json root = parse_json(read_small_text(path), path.string());
    try {
        CheckOptions one = options;
        one.only = root.at("only").get<std::vector<std::string>>();
        one.pretend = root.at("pretend").get<std::string>();
        one.first = root.at("index").get<std::int64_t>();
        require(one.first >= 0, path.string(), ": index is ", one.first, ", wanted at least 0");
        require(one.pretend.empty() || one.pretend == "gpu" || one.pretend == "small-gpu", path.string(),
                ": pretend is '", one.pretend, "', wanted gpu or small-gpu");
        Common seeded = common;
        seeded.seed = root.at("seed").get<std::uint64_t>();
        const std::string build = root.at("build"), name = root.at("check");
        return check_one(
            seeded, one,
            [&](const PlanLine& plan) {
                require(std::to_string(plan.kernels) == build, path.string(), ": is of vkformer ",
                        root.value("vkformer", "?"), " with other kernels, wanted one that this program wrote");
            },
            name);
    } catch (const nlohmann::json::exception&) {
        throw InputError(path.string(), ": is no case that vkformer check has written");
    }
}

}  // namespace vkf
