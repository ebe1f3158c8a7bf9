// Reports of benchmarks as JSON, written and read back.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apps/bench/bench_report.h"
#include "apps/bench/compile_report.h"
#include "apps/cli/version.h"
#include "apps/inspect/facts_document.h"
#include "base/files/file.h"
#include "base/os/host_facts.h"
#include "base/text/json.h"
#include "base/text/utc_time.h"
#include "vulkan/device/device.h"

namespace vkf {

using nlohmann::ordered_json;

ReportHead report_head(const Device& device) {
    const DeviceInfo& info = device.info();
    return {.device = info.name,
            .kind = std::string(to_string(info.kind)),
            .driver = info.driver,
            .version = version(),
            .date = utc_now(),
            .subgroup_size = info.subgroup_size};
}

ordered_json document(const ReportHead& head) {
    return {
        {"vkformer", head.version},
        {"date", head.date},
        {"device",
         {{"name", head.device}, {"kind", head.kind}, {"driver", head.driver}, {"subgroup_size", head.subgroup_size}}}};
}

ReportHead read_head(const nlohmann::json& root) {
    const nlohmann::json& device = root.at("device");
    return {.device = device.at("name"),
            .kind = device.at("kind"),
            .driver = device.at("driver"),
            .version = root.at("vkformer"),
            .date = root.at("date"),
            .subgroup_size = device.at("subgroup_size")};
}

namespace {

/// Beginnings of the names of variables that change what a Vulkan loader, a driver or this program does.
constexpr std::array<std::string_view, 23> DRIVER_VARIABLES = {
    "ACO_",   "AMD_",  "ANV_", "DRI_PRIME", "GALLIUM_", "GALLIVM_", "INTEL_",    "LD_",
    "LIBGL_", "LP_",   "LVP_", "MESA_",     "MVK_",     "NIR_",     "NODEVICE_", "NVK_",
    "PAN_",   "RADV_", "TU_",  "VKFORMER_", "VK_",      "__GL_",    "__NV_"};

ordered_json document(const ReportHost& host) {
    return {{"os", host.os},
            {"kernel", host.kernel},
            {"processor", host.processor},
            {"threads", host.threads},
            {"memory_bytes", host.memory_bytes},
            {"environment", ordered_json(host.environment)}};
}

ordered_json document(const SuiteRecord& suite) {
    ordered_json made{{"version", suite.version}, {"minutes", suite.minutes}, {"left_out", ordered_json::array()}};
    for (const LeftOut& at : suite.left_out)
        made["left_out"].push_back({{"family", at.family},
                                    {"name", at.name},
                                    {"shape", at.shape},
                                    {"precision", at.precision},
                                    {"reason", at.reason}});
    return made;
}

/// Count under the key; 0 if it is absent, negative if 64 bits cannot hold it. Throws nlohmann::json::type_error if it
/// is no whole number.
std::int64_t count_at(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? 0 : found->get_ref<const std::int64_t&>();
}

SuiteRecord read_suite(const nlohmann::json& suite, const std::filesystem::path& path) {
    constexpr std::int64_t most = 1000;
    const std::int64_t version = count_at(suite, "version");
    require(version >= 1 && version <= most, path.string(), ": the suite's version is ", version, ", wanted 1 to ",
            most);
    SuiteRecord made{.version = static_cast<int>(version), .minutes = suite.at("minutes")};
    for (const nlohmann::json& at : suite.at("left_out"))
        made.left_out.push_back({at.at("family"), at.at("name"), at.at("shape"), at.at("precision"), at.at("reason")});
    return made;
}

ReportHost read_host(const nlohmann::json& host) {
    return {.os = host.value("os", ""),
            .kernel = host.value("kernel", ""),
            .processor = host.value("processor", ""),
            .threads = count_at(host, "threads"),
            .memory_bytes = count_at(host, "memory_bytes"),
            .environment = host.value("environment", std::map<std::string, std::string>{})};
}

Timing read_timing(const nlohmann::json& seconds) {
    Timing made{seconds.at("median"), seconds.at("min"), seconds.at("max"), count_at(seconds, "samples")};
    if (seconds.contains("deviation")) made.deviation = seconds["deviation"].get<double>();
    return made;
}

Measurement read_measurement(const nlohmann::json& entry) {
    Measurement made{.family = entry.at("family"),
                     .name = entry.at("name"),
                     .shape = entry.at("shape"),
                     .layout = entry.value("layout", ""),
                     .kernel = entry.value("kernel", ""),
                     .seconds = read_timing(entry.at("seconds")),
                     .flops = entry.at("flops"),
                     .bytes = entry.at("bytes"),
                     .host_seconds = entry.value("host_seconds", 0.0),
                     .element = entry.value("element", ""),
                     .precision = entry.value("precision", ""),
                     .model = entry.value("model", ""),
                     .attention = entry.value("attention", "")};
    // "tokens" and "tokens_per_s" give the unit its name.
    constexpr std::string_view rate = "_per_s";
    for (const auto& [key, value] : entry.items()) {
        if (!key.ends_with(rate)) continue;
        const std::string items = key.substr(0, key.size() - rate.size());
        if (!items.ends_with('s') || !entry.contains(items)) continue;
        made.item = items.substr(0, items.size() - 1);
        made.items = entry[items].get<double>();
    }
    return made;
}

}  // namespace

ReportHost report_host() {
    const os::HostFacts host = os::host_facts();
    return {.os = host.system,
            .kernel = host.kernel,
            .processor = host.processor,
            .threads = host.threads,
            .memory_bytes = static_cast<std::int64_t>(host.memory_bytes),
            .environment = os::environment_variables(DRIVER_VARIABLES)};
}

ordered_json document(const BenchReport& report) {
    ordered_json list = ordered_json::array();
    for (const Measurement& m : report.measurements) {
        ordered_json entry{{"family", m.family}, {"name", m.name}, {"shape", m.shape}};
        if (!m.layout.empty()) entry["layout"] = m.layout;
        if (!m.precision.empty()) entry["precision"] = m.precision;
        if (!m.model.empty()) entry["model"] = m.model;
        if (!m.attention.empty()) entry["attention"] = m.attention;
        if (!m.kernel.empty()) entry["kernel"] = m.kernel;
        if (!m.element.empty()) entry["element"] = m.element;
        entry["seconds"] = {{"median", m.seconds.median},
                            {"min", m.seconds.least},
                            {"max", m.seconds.most},
                            {"samples", m.seconds.samples}};
        if (m.seconds.deviation) entry["seconds"]["deviation"] = *m.seconds.deviation;
        entry["flops"] = m.flops;
        entry["bytes"] = m.bytes;
        entry["gflops"] = m.flops_per_second() * 1e-9;
        entry["gb_per_s"] = m.bytes_per_second() * 1e-9;
        entry["share_of_peak"] = m.share_of_peak(report.peak);
        entry["bound"] = m.memory_bound(report.peak) ? "memory" : "compute";
        if (!m.item.empty()) {
            entry[m.item + "s"] = m.items;
            entry[m.item + "s_per_s"] = m.items / m.seconds.median;
        }
        if (m.host_seconds > 0) entry["host_seconds"] = m.host_seconds;
        list.push_back(std::move(entry));
    }
    ordered_json peak{{"gflops", report.peak.flops * 1e-9}, {"gb_per_s", report.peak.bytes * 1e-9}};
    if (report.peak.memcpy_bytes > 0) peak["memcpy_gb_per_s"] = report.peak.memcpy_bytes * 1e-9;
    for (const auto& [element, flops] : report.peak.matrices) peak["matrix_gflops"][element] = flops * 1e-9;
    ordered_json root = document(report.head);
    if (report.facts) root["device"].update(document(*report.facts));
    if (report.host) root["host"] = document(*report.host);
    if (report.checked)
        root["checked"] = {
            {"date", report.checked->date}, {"checks", report.checked->checks}, {"failed", report.checked->failed}};
    if (report.suite) root["suite"] = document(*report.suite);
    for (const ReportModel& model : report.models)
        root["models"].push_back({{"name", model.name}, {"title", model.title}, {"parameters", model.parameters}});
    root["precision"] = report.precision;
    root["kernels"] = report.kernels;
    root["peak"] = std::move(peak);
    root["measurements"] = std::move(list);
    return root;
}

BenchReport read_report(const std::filesystem::path& path) {
    const std::string wrong = path.string() + ": is no report of vkformer bench: ";
    const nlohmann::json root = parse_json(read_text(path), wrong + "it");
    require(!is_compile_report(root), path.string(), " is a report of bench compile, wanted one of measurements");
    try {
        BenchReport made{.head = read_head(root),
                         .precision = root.value("precision", "fp32"),
                         .kernels = root.value("kernels", "auto"),
                         .peak = {root.at("peak").at("gflops").get<double>() * 1e9,
                                  root.at("peak").at("gb_per_s").get<double>() * 1e9,
                                  root.at("peak").value("memcpy_gb_per_s", 0.0) * 1e9},
                         .measurements = {}};
        const auto matrices = root.at("peak").value("matrix_gflops", nlohmann::json::object());  // outlives items()
        for (const auto& [element, gflops] : matrices.items()) made.peak.matrices[element] = gflops.get<double>() * 1e9;
        for (const nlohmann::json& entry : root.at("measurements")) {
            made.measurements.push_back(read_measurement(entry));
            require(made.measurements.back().seconds.median > 0, path.string(), ": a measurement took no time");
        }
        if (root.contains("suite")) made.suite = read_suite(root.at("suite"), path);
        for (const nlohmann::json& model : root.value("models", nlohmann::json::array()))
            made.models.push_back({model.at("name"), model.at("title"), count_at(model, "parameters")});
        if (root.contains("host")) made.host = read_host(root["host"]);
        if (root.contains("checked"))
            made.checked = {root["checked"].at("date"), count_at(root["checked"], "checks"),
                            count_at(root["checked"], "failed")};
        const auto above_0 = [](const auto& figure) { return figure.second > 0; };
        require(made.peak.flops > 0 && made.peak.bytes > 0 && std::ranges::all_of(made.peak.matrices, above_0),
                path.string(), ": the peak is not above 0");
        return made;
    } catch (const nlohmann::json::exception&) {
        throw InputError(wrong, "a key is missing, or its value is of another kind");
    }
}

}  // namespace vkf
