#include "apps/bench_report.h"

#include <ctime>

#include "vulkan/device.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

/// "2026-01-31T12:00:00Z"
std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char digits[32];
    return {digits, std::strftime(digits, sizeof digits, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string milliseconds(double seconds) {
    const double ms = seconds * 1e3;
    return fixed(ms, ms < 1 ? 4 : ms < 100 ? 3 : 1);
}

/// In units of 10⁹, with three digits that matter.
std::string giga(double value) {
    const double scaled = value * 1e-9;
    return fixed(scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0);
}

std::string percent(double share) {
    return fixed(100 * share, 0) + " %";
}

}  // namespace

BenchReport begin_report(const Device& device) {
    const DeviceInfo& info = device.info();
    return {.device = info.name,
            .kind = std::string(to_string(info.kind)),
            .driver = info.driver,
            .version = VKFORMER_VERSION,
            .date = now(),
            .subgroup_size = info.subgroup_size,
            .peak = {},
            .measurements = {}};
}

ordered_json document(const BenchReport& report) {
    ordered_json list = ordered_json::array();
    for (const Measurement& m : report.measurements) {
        ordered_json entry{{"family", m.family}, {"name", m.name}, {"shape", m.shape}};
        if (!m.layout.empty()) entry["layout"] = m.layout;
        entry["seconds"] = {{"median", m.seconds.median},
                            {"min", m.seconds.least},
                            {"max", m.seconds.most},
                            {"samples", m.seconds.samples}};
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
        list.push_back(std::move(entry));
    }
    return {{"vkformer", report.version},
            {"date", report.date},
            {"device",
             {{"name", report.device},
              {"kind", report.kind},
              {"driver", report.driver},
              {"subgroup_size", report.subgroup_size}}},
            {"peak", {{"gflops", report.peak.flops * 1e-9}, {"gb_per_s", report.peak.bytes * 1e-9}}},
            {"measurements", list}};
}

std::vector<std::vector<std::string>> rows_of(const BenchReport& report) {
    std::vector<std::vector<std::string>> rows{
        {"what", "shape", "layout", "ms", "least", "most", "GFLOP/s", "GB/s", "of peak", "bound by"}};
    for (const Measurement& m : report.measurements)
        rows.push_back({m.name, m.shape, m.layout, milliseconds(m.seconds.median), milliseconds(m.seconds.least),
                        milliseconds(m.seconds.most), giga(m.flops_per_second()), giga(m.bytes_per_second()),
                        percent(m.share_of_peak(report.peak)), m.memory_bound(report.peak) ? "memory" : "compute"});
    return rows;
}

std::string heading(const BenchReport& report) {
    return text(report.device, ", ", report.driver, ", ", report.date, ", vkformer ", report.version,
                "\npeak: ", giga(report.peak.flops), " GFLOP/s, ", giga(report.peak.bytes), " GB/s\n");
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

}  // namespace vkf
