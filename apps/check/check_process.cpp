#include "apps/check/check_process.h"

#include <algorithm>
#include <chrono>

#include "apps/check/check_lines.h"
#include "apps/check/check_options.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/raw_output.h"
#include "base/random.h"
#include "base/text/json_text.h"
#include "checks/check_plan.h"
#include "checks/kernel_check.h"
#include "graph/lower.h"
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

/// Names of the kernels that compute the case, each once.
std::vector<std::string> kernels_of(const CheckItem& item, const DeviceTraits& device) {
    checks::CaseGraph graph(item.c, differentiable(item.c), item.format);
    run_passes(graph.graph, {.fuse_elementwise = false});
    const LiveNodes live = live_nodes(graph.graph);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < graph.graph.nodes().size(); ++i) {
        const Node& node = graph.graph.nodes()[i];
        if (!live[i] || node.is_view()) continue;
        for (const Dispatch& dispatch : lower(graph.graph, live, node, device).dispatches)
            if (std::ranges::count(names, dispatch.kernel) == 0) names.push_back(dispatch.kernel);
    }
    return names;
}

void compare(Device& device, const CheckItem& item, const ProgramOptions& lowered, CheckResult& result) {
    const checks::KernelCheck found = item.bounds
                                          ? check_bounded_kernels(device, item.c, item.format, item.bounds, lowered)
                                          : check_kernels(device, item.c, item.format, lowered);
    result.worst = found.worst();
    result.failures = found.failures();
    result.kernels = kernels_of(item, *lowered.traits);
    result.bits = hash_of(found.outputs);
}

void look_at_rows(Device& device, const CheckItem& item, const ProgramOptions& lowered, CheckResult& result) {
    const std::string difference = batch_dependence(device, *item.rows, item.format, lowered);
    result.notes.push_back(difference.empty() ? "a row's bits do not depend on the number of rows" : difference);
    result.bits = "none";
}

void probe(Device& device, const CheckItem& item, const ProgramOptions& lowered, CheckResult& result) {
    const std::string fault = item.probe->fault(device, lowered);
    if (!fault.empty()) result.failures.push_back(fault);
    result.bits = "none";
}

CheckResult check(Device& device, const CheckItem& item, const CheckOptions& options) {
    CheckResult result{.table = item.table, .name = name_of(item)};
    checks::ChosenCandidate chosen(item.choice);
    DeviceTraits lowering = check_traits(device, options).of(item);
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
    return result;
}

}  // namespace

void check_in_process(const Common& common, const CheckOptions& options) {
    Device device(wanted_device(common), pretence(options));
    if (device.info().kind != DeviceKind::cpu) device.set_patience(std::chrono::seconds(30));
    const std::vector<CheckItem> plan = checks::check_plan(check_traits(device, options), common.seed, options.only);
    print_line(document(PlanLine{report_head(device), hash_of_kernels(), plan.size()}));
    std::int64_t done = 0;
    for (auto i = static_cast<std::size_t>(options.first); i < plan.size();
         i += static_cast<std::size_t>(options.step)) {
        if (options.most > 0 && done++ == options.most) return;
        stop_if_interrupted();
        if (std::ranges::count(options.skip, plan[i].table) > 0) continue;
        print_line(document(BeginLine{i, plan[i].table, name_of(plan[i])}));
        CheckResult result{.table = plan[i].table, .name = name_of(plan[i])};
        std::string fault;
        try {
            result = check(device, plan[i], options);
        } catch (const DeviceHang& hang) {
            result.failures.emplace_back(hang.what());
            result.index = i;
            print_line(document(result));
            throw;
        } catch (const Error& error) {
            fault = error.what();
            result.failures.push_back(fault);
        }
        result.index = i;
        print_line(document(result));
        if (!fault.empty()) throw Error(fault);
    }
}

}  // namespace vkf
