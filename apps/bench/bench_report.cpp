#include "apps/bench/bench_report.h"

#include <algorithm>

namespace vkf {

namespace {

/// Formats a value in units of 10⁹, with three significant digits.
std::string giga(double value) {
    const double scaled = value * 1e-9;
    return fixed(scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0);
}

}  // namespace

std::string milliseconds_text(double seconds) {
    const double ms = seconds * 1e3;
    return fixed(ms, ms < 1 ? 4 : ms < 100 ? 3 : 1);
}

std::string share_text(double share) {
    return fixed(100 * share, 0) + " %";
}

std::string heading(const ReportHead& head) {
    return text(head.device, ", ", head.driver, ", ", head.date, ", vkformer ", head.version);
}

std::vector<std::vector<std::string>> rows_of(const BenchReport& report) {
    const bool named = std::ranges::any_of(report.measurements, [](const Measurement& m) { return !m.kernel.empty(); });
    const bool counted = std::ranges::any_of(report.measurements, [](const Measurement& m) { return !m.item.empty(); });
    const bool varied =
        std::ranges::any_of(report.measurements, [](const Measurement& m) { return !m.precision.empty(); });
    const bool hosted =
        std::ranges::any_of(report.measurements, [](const Measurement& m) { return m.host_seconds > 0; });
    std::vector<std::vector<std::string>> rows{
        {"family", "what", "shape", "layout", "ms", "least", "most", "GFLOP/s", "GB/s", "of peak", "bound by"}};
    if (varied) rows.front().insert(rows.front().begin() + 4, "precision");
    if (counted) rows.front().push_back("speed");
    if (hosted) rows.front().push_back("host ms");
    if (named) rows.front().push_back("kernel");
    for (const Measurement& m : report.measurements) {
        rows.push_back({m.family, m.name, m.shape, m.layout, milliseconds_text(m.seconds.median),
                        milliseconds_text(m.seconds.least), milliseconds_text(m.seconds.most),
                        giga(m.flops_per_second()), giga(m.bytes_per_second()),
                        share_text(m.share_of_peak(report.peak)), m.memory_bound(report.peak) ? "memory" : "compute"});
        if (varied) rows.back().insert(rows.back().begin() + 4, m.precision);
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

}  // namespace vkf
