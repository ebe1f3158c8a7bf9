// Reports of benchmarks as JSON, written and read back.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/bench/bench_report.h"
#include "apps/cli/version.h"
#include "apps/inspect/facts_document.h"
#include "base/files/file.h"
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

SuiteRecord read_suite(const nlohmann::json& suite, const std::filesystem::path& path) {
    SuiteRecord made{.version = suite.at("version"), .minutes = suite.at("minutes")};
    require(made.version >= 1, path.string(), ": the suite's version is ", made.version, ", wanted at least 1");
    for (const nlohmann::json& at : suite.at("left_out"))
        made.left_out.push_back({at.at("family"), at.at("name"), at.at("shape"), at.at("precision"), at.at("reason")});
    return made;
}

}  // namespace

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
                            {"deviation", m.seconds.deviation},
                            {"samples", m.seconds.samples}};
        entry["flops"] = m.flops;
        entry["bytes"] = m.bytes;
        entry["gflops"] = m.flops_per_second() * 1e-9;
        entry["gb_per_s"] = m.bytes_per_second() * 1e-9;
        entry["share_of_peak"] = m.share_of_peak(report.peak);
        entry["bound"] = m.memory_bound(report.peak) ? "memory" : "compute";
        if (!m.item.empty()) {
            entry["item"] = m.item;
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
    root["host"] = host_document();
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
            const nlohmann::json& seconds = entry.at("seconds");
            made.measurements.push_back({.family = entry.at("family"),
                                         .name = entry.at("name"),
                                         .shape = entry.at("shape"),
                                         .layout = entry.value("layout", ""),
                                         .kernel = entry.value("kernel", ""),
                                         .seconds = {seconds.at("median"), seconds.at("min"), seconds.at("max"),
                                                     seconds.at("samples"), seconds.value("deviation", 0.0)},
                                         .flops = entry.at("flops"),
                                         .bytes = entry.at("bytes"),
                                         .item = entry.value("item", ""),
                                         .element = entry.value("element", ""),
                                         .precision = entry.value("precision", ""),
                                         .model = entry.value("model", ""),
                                         .attention = entry.value("attention", "")});
            Measurement& m = made.measurements.back();
            if (!m.item.empty()) m.items = entry.at(m.item + "s");
            require(made.measurements.back().seconds.median > 0, path.string(), ": a measurement took no time");
        }
        if (root.contains("suite")) made.suite = read_suite(root.at("suite"), path);
        for (const nlohmann::json& model : root.value("models", nlohmann::json::array()))
            made.models.push_back({model.at("name"), model.at("title"), model.at("parameters")});
        const auto above_0 = [](const auto& figure) { return figure.second > 0; };
        require(made.peak.flops > 0 && made.peak.bytes > 0 && std::ranges::all_of(made.peak.matrices, above_0),
                path.string(), ": the peak is not above 0");
        return made;
    } catch (const nlohmann::json::exception&) {
        throw InputError(wrong, "a key is missing, or its value is of another kind");
    }
}

}  // namespace vkf
