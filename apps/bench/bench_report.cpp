#include "apps/bench/bench_report.h"

#include <nlohmann/json.hpp>

#include "apps/bench/bench_peak.h"
#include "apps/bench/roofline.h"
#include "apps/cli/command.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/version.h"
#include "apps/inspect/facts_document.h"
#include "base/files/file.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/utc_time.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

/// Formats a value in units of 10⁹, with three significant digits.
std::string giga(double value) {
    const double scaled = value * 1e-9;
    return fixed(scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0);
}

ordered_json document(const HostFacts& host) {
    return {{"os", host.os},
            {"kernel", host.kernel},
            {"processor", host.processor},
            {"threads", host.threads},
            {"memory_bytes", host.memory_bytes},
            {"environment", ordered_json(host.environment)}};
}

}  // namespace

std::string milliseconds_text(double seconds) {
    const double ms = seconds * 1e3;
    return fixed(ms, ms < 1 ? 4 : ms < 100 ? 3 : 1);
}

std::string share_text(double share) {
    return fixed(100 * share, 0) + " %";
}

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

std::string heading(const ReportHead& head) {
    return text(head.device, ", ", head.driver, ", ", head.date, ", vkformer ", head.version);
}

ordered_json document(const BenchReport& report) {
    ordered_json list = ordered_json::array();
    for (const Measurement& m : report.measurements) {
        ordered_json entry{{"family", m.family}, {"name", m.name}, {"shape", m.shape}};
        if (!m.layout.empty()) entry["layout"] = m.layout;
        if (!m.kernel.empty()) entry["kernel"] = m.kernel;
        if (!m.element.empty()) entry["element"] = m.element;
        if (!m.precision.empty()) entry["precision"] = m.precision;
        if (!m.model.empty()) entry["model"] = m.model;
        if (!m.attention.empty()) entry["attention"] = m.attention;
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
    root["precision"] = report.precision;
    root["kernels"] = report.kernels;
    for (const BenchedModel& model : report.models)
        root["models"].push_back({{"name", model.name}, {"title", model.title}, {"parameters", model.parameters}});
    root["peak"] = std::move(peak);
    root["measurements"] = std::move(list);
    return root;
}

std::vector<std::vector<std::string>> rows_of(const BenchReport& report) {
    const bool named = std::ranges::any_of(report.measurements, [](const Measurement& m) { return !m.kernel.empty(); });
    const bool counted = std::ranges::any_of(report.measurements, [](const Measurement& m) { return !m.item.empty(); });
    const bool hosted =
        std::ranges::any_of(report.measurements, [](const Measurement& m) { return m.host_seconds > 0; });
    std::vector<std::vector<std::string>> rows{
        {"family", "what", "shape", "layout", "ms", "least", "most", "GFLOP/s", "GB/s", "of peak", "bound by"}};
    if (counted) rows.front().push_back("speed");
    if (hosted) rows.front().push_back("host ms");
    if (named) rows.front().push_back("kernel");
    for (const Measurement& m : report.measurements) {
        rows.push_back({m.family, m.name, m.shape, m.layout, milliseconds_text(m.seconds.median),
                        milliseconds_text(m.seconds.least), milliseconds_text(m.seconds.most),
                        giga(m.flops_per_second()), giga(m.bytes_per_second()),
                        share_text(m.share_of_peak(report.peak)), m.memory_bound(report.peak) ? "memory" : "compute"});
        if (counted)
            rows.back().push_back(m.item.empty() ? "" : text(fixed(m.items / m.seconds.median, 1), ' ', m.item, "s/s"));
        if (hosted) rows.back().push_back(m.host_seconds > 0 ? milliseconds_text(m.host_seconds) : "");
        if (named) rows.back().push_back(m.kernel);
    }
    return rows;
}

namespace {

/// "; matrices of bf16: 12.3 GFLOP/s; …"
std::string matrix_peaks(const Peak& peak) {
    std::string list;
    for (const auto& [element, flops] : peak.matrices)
        list += text("; matrices of ", element, ": ", giga(flops), " GFLOP/s");
    return list;
}

}  // namespace

std::string heading(const BenchReport& report) {
    return text(heading(report.head), ", ", report.precision, ", kernels ", report.kernels,
                "\npeak: ", giga(report.peak.flops), " GFLOP/s, ", giga(report.peak.bytes), " GB/s",
                report.peak.memcpy_bytes > 0 ? text("; memcpy by one thread: ", giga(report.peak.memcpy_bytes), " GB/s")
                                             : std::string(),
                matrix_peaks(report.peak), "\n");
}

std::string markdown(const std::vector<std::vector<std::string>>& rows) {
    std::string lines;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (const std::string& cell : rows[r]) lines += "| " + cell + ' ';
        lines += "|\n";
        if (r > 0) continue;
        for (std::size_t i = 0; i < rows[0].size(); ++i) lines += "| --- ";
        lines += "|\n";
    }
    return lines;
}

namespace {

/// Count under the key; 0 if it is absent, negative if 64 bits cannot hold it. Throws nlohmann::json::type_error if it
/// is no whole number.
std::int64_t count_at(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? 0 : found->get_ref<const std::int64_t&>();
}

HostFacts read_host(const nlohmann::json& host) {
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
        if (root.contains("host")) made.host = read_host(root["host"]);
        for (const nlohmann::json& model : root.value("models", nlohmann::json::array()))
            made.models.push_back({model.at("name"), model.at("title"), count_at(model, "parameters")});
        for (const nlohmann::json& entry : root.at("measurements")) {
            made.measurements.push_back(read_measurement(entry));
            require(made.measurements.back().seconds.median > 0, path.string(), ": a measurement took no time");
        }
        const auto above_0 = [](const auto& figure) { return figure.second > 0; };
        require(made.peak.flops > 0 && made.peak.bytes > 0 && std::ranges::all_of(made.peak.matrices, above_0),
                path.string(), ": the peak is not above 0");
        return made;
    } catch (const nlohmann::json::exception&) {
        throw InputError(wrong, "a key is missing, or its value is of another kind");
    }
}

void ReportOptions::declare(cli::Command& app) {
    app.add_option("--seconds", seconds, "Length of each measurement")
        .type_name("S")
        .check(at_least(0.001))
        .capture_default_str();
    app.add_option("--out", out, "Write the JSON document here too").type_name("FILE.json");
    app.add_option("--markdown", markdown, "Write the table as Markdown").type_name("FILE.md");
    app.add_option("--plot", plot, "Draw the roofline").type_name("FILE.svg");
}

void run_benchmark(const Common& common, const ReportOptions& o,
                   const std::function<void(Device&, BenchReport&)>& work) {
    for (const std::string& file : {o.out, o.markdown, o.plot})
        if (!file.empty()) require_directory_of(file);
    for (const auto& [a, b] : {std::pair(o.out, o.markdown), std::pair(o.out, o.plot), std::pair(o.markdown, o.plot)})
        require(a.empty() || a != b, "two reports are to be written to ", a, ": wanted a file for each");
    catch_interrupts();
    with_device(common, [&](Device& device) {
        BenchReport report{.head = report_head(device)};
        report.precision = common.precision;
        report.kernels = common.kernels;
        if (common.activations() == Format::f16) report.precision += " (float16)";
        report.peak = measure_peak(device, o.seconds);
        work(device, report);
        // Measures again: other load may have lowered one of the measurements, and nothing raises them.
        report.peak = higher(report.peak, measure_peak(device, o.seconds));
        if (const auto facts = list_device_facts(); device.info().index < facts.size())
            report.facts = facts[device.info().index];
        const auto rows = rows_of(report);
        if (!o.out.empty()) write_atomically(o.out, document_text(document(report)));
        if (!o.markdown.empty()) write_atomically(o.markdown, heading(report) + "\n" + vkf::markdown(rows));
        if (!o.plot.empty()) write_atomically(o.plot, roofline_svg(report));
        if (common.json) return print_json(document(report));
        print(heading(report) + "\n" + table(rows));
    });
}

}  // namespace vkf
