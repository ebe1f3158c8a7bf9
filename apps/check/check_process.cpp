#include "apps/check/check_process.h"

#include <algorithm>
#include <chrono>

#include "apps/check/check_lines.h"
#include "apps/check/check_options.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/matrix_trial.h"
#include "apps/cli/raw_output.h"
#include "base/random.h"
#include "base/text/json_text.h"
#include "checks/case_graph.h"
#include "checks/check_plan.h"
#include "checks/kernel_check.h"
#include "passes/run_passes.h"
#include "vulkan/device/device.h"
#include "vulkan/kernel/kernel.h"
#include "vulkan/kernel/spirv.h"

namespace vkf {

namespace {

using checks::CheckItem;

void print_line(const nlohmann::ordered_json& line) {
    print_as_is(json_text(line) + "\n");
}

std::uint64_t hash_of_kernels() {
    std::vector<std::string> names;
    for (const SpirvModule& module : embedded_spirv()) names.emplace_back(module.name);
    return kernels_hash(names);
}

/// Hash of the outputs' bits.
std::string hash_of(const checks::Bits& outputs) {
    std::string bytes;
    for (const auto& [name, values] : outputs)
        bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return text(std::hex, hash_name(bytes));
}

/// Result of a check before it runs: its names, kernels and candidates.
CheckResult begun(std::size_t index, const CheckItem& item, DeviceTraits device) {
    CheckResult result{.index = index, .table = item.table, .name = name_of(item)};
    if (item.rows || item.probe) return result;
    checks::ChosenCandidate chosen(item.choice);
    device.autotuner = &chosen;
    checks::CaseGraph graph(item.c, differentiable(item.c), item.format);
    run_passes(graph.graph, {.fuse_elementwise = false});
    for (const auto& [op, dispatch] : dispatches_of(graph, device))
        if (std::ranges::count(result.kernels, dispatch.kernel) == 0) result.kernels.push_back(dispatch.kernel);
    result.chosen = chosen.chosen();
    return result;
}

void compare(Device& device, const CheckItem& item, const ProgramOptions& lowered, CheckResult& result) {
    const checks::KernelCheck found = item.bounds
                                          ? check_bounded_kernels(device, item.c, item.format, item.bounds, lowered)
                                          : check_kernels(device, item.c, item.format, lowered);
    result.worst = found.worst();
    result.failures = found.failures();
    result.bits = hash_of(found.outputs);
}

void look_at_rows(Device& device, const CheckItem& item, const ProgramOptions& lowered, CheckResult& result) {
    const std::string difference = batch_dependence(device, *item.rows, item.format, lowered);
    result.notes.push_back(difference.empty() ? "a row's bits do not depend on the number of rows" : difference);
}

void probe(Device& device, const CheckItem& item, const ProgramOptions& lowered, CheckResult& result) {
    const std::string fault = item.probe->fault(device, lowered);
    if (!fault.empty()) result.failures.push_back(fault);
}

/// Makes a check and adds what it finds to the result.
void check(Device& device, const CheckItem& item, DeviceTraits lowering, CheckResult& result) {
    checks::ChosenCandidate chosen(item.choice);
    lowering.autotuner = &chosen;
    const std::uint64_t messages = device.validation_messages();
    const auto start = std::chrono::steady_clock::now();
    const ProgramOptions lowered{.traits = lowering};
    if (item.rows)
        look_at_rows(device, item, lowered, result);
    else if (item.probe)
        probe(device, item, lowered, result);
    else
        compare(device, item, lowered, result);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.chosen = chosen.chosen();
    if (device.validation_messages() > messages) result.failures.emplace_back("the validation layers complained");
}

}  // namespace

void check_in_process(const Common& common, const CheckOptions& options) {
    Device device(wanted_device(common), pretence(options), matrix_trial());
    // A device that pretends to be a GPU may be a CPU, whose driver compiles while it runs.
    if (device.info().kind != DeviceKind::cpu && options.pretend.empty()) device.set_patience(std::chrono::seconds(30));
    const checks::CheckTraits traits = check_traits(device, options);
    const std::vector<CheckItem> plan = checks::check_plan(traits, common.seed, options.only);
    print_line(document(PlanLine{report_head(device), hash_of_kernels(), plan.size()}));
    std::int64_t done = 0;
    for (auto i = static_cast<std::size_t>(options.first); i < plan.size();
         i += static_cast<std::size_t>(options.step)) {
        if (options.most > 0 && done++ == options.most) return;
        stop_if_interrupted();
        if (std::ranges::count(options.skip, plan[i].table) > 0) continue;
        const DeviceTraits& lowering = traits.of(plan[i]);
        CheckResult result = begun(i, plan[i], lowering);
        print_line(begin_document(result));
        try {
            check(device, plan[i], lowering, result);
        } catch (const Error& error) {
            result.failures.emplace_back(error.what());
            print_line(document(result));
            throw;
        }
        print_line(document(result));
    }
}

}  // namespace vkf
