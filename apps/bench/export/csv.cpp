// Reports as a table for spreadsheets.

#include <cmath>

#include "apps/bench/export/export_forms.h"
#include "base/text/plain_text.h"

namespace vkf {

namespace {

struct Column {
    const char* name;
    std::string (*cell)(const BenchReport& report, const Measurement& measurement);
};

/// Text in quotes if it needs them. Spreadsheets run cells that begin with = + - or @ as formulas; an apostrophe makes
/// them text.
std::string words(const std::string& text) {
    std::string line = plain_line(text, std::string::npos);
    if (!line.empty() && std::string_view("=+-@").find(line.front()) != std::string_view::npos) line.insert(0, 1, '\'');
    if (line.find_first_of(",\"") == std::string::npos) return line;
    std::string made = "\"";
    for (const char c : line) made += c == '"' ? "\"\"" : std::string(1, c);
    return made + '"';
}

/// Number, or nothing if there is none.
std::string number(double value) {
    return std::isfinite(value) ? number_text(value) : "";
}

std::string count(std::int64_t value) {
    return value > 0 ? std::to_string(value) : "";
}

constexpr Column COLUMNS[] = {
    {"device", [](const BenchReport& r, const Measurement&) { return words(r.head.device); }},
    {"kind", [](const BenchReport& r, const Measurement&) { return words(r.head.kind); }},
    {"driver", [](const BenchReport& r, const Measurement&) { return words(r.head.driver); }},
    {"subgroup_size", [](const BenchReport& r, const Measurement&) { return count(r.head.subgroup_size); }},
    {"vkformer", [](const BenchReport& r, const Measurement&) { return words(r.head.version); }},
    {"date", [](const BenchReport& r, const Measurement&) { return words(r.head.date); }},
    {"os", [](const BenchReport& r, const Measurement&) { return words(r.host ? r.host->os : ""); }},
    {"os_kernel", [](const BenchReport& r, const Measurement&) { return words(r.host ? r.host->kernel : ""); }},
    {"processor", [](const BenchReport& r, const Measurement&) { return words(r.host ? r.host->processor : ""); }},
    {"threads", [](const BenchReport& r, const Measurement&) { return count(r.host ? r.host->threads : 0); }},
    {"memory_bytes", [](const BenchReport& r, const Measurement&) { return count(r.host ? r.host->memory_bytes : 0); }},
    {"kernels", [](const BenchReport& r, const Measurement&) { return words(r.kernels); }},
    {"family", [](const BenchReport&, const Measurement& m) { return words(m.family); }},
    {"name", [](const BenchReport&, const Measurement& m) { return words(m.name); }},
    {"model", [](const BenchReport&, const Measurement& m) { return words(m.model); }},
    {"attention", [](const BenchReport&, const Measurement& m) { return words(m.attention); }},
    {"shape", [](const BenchReport&, const Measurement& m) { return words(m.shape); }},
    {"layout", [](const BenchReport&, const Measurement& m) { return words(m.layout); }},
    {"precision", [](const BenchReport& r, const Measurement& m) { return words(precision_of(r, m)); }},
    {"kernel", [](const BenchReport&, const Measurement& m) { return words(m.kernel); }},
    {"matrix_element", [](const BenchReport&, const Measurement& m) { return words(m.element); }},
    {"median_s", [](const BenchReport&, const Measurement& m) { return number(m.seconds.median); }},
    {"min_s", [](const BenchReport&, const Measurement& m) { return number(m.seconds.least); }},
    {"max_s", [](const BenchReport&, const Measurement& m) { return number(m.seconds.most); }},
    {"deviation_s", [](const BenchReport&, const Measurement& m) { return number(m.seconds.deviation.value_or(NAN)); }},
    {"samples", [](const BenchReport&, const Measurement& m) { return count(m.seconds.samples); }},
    {"flops", [](const BenchReport&, const Measurement& m) { return number(m.flops); }},
    {"bytes", [](const BenchReport&, const Measurement& m) { return number(m.bytes); }},
    {"gflops", [](const BenchReport&, const Measurement& m) { return number(m.flops_per_second() * 1e-9); }},
    {"gb_per_s", [](const BenchReport&, const Measurement& m) { return number(m.bytes_per_second() * 1e-9); }},
    {"peak_gflops",
     [](const BenchReport& r, const Measurement& m) { return number(r.peak.flops_of(m.element) * 1e-9); }},
    {"peak_gb_per_s", [](const BenchReport& r, const Measurement&) { return number(r.peak.bytes * 1e-9); }},
    {"share_of_peak", [](const BenchReport& r, const Measurement& m) { return number(m.share_of_peak(r.peak)); }},
    {"bound", [](const BenchReport& r,
                 const Measurement& m) { return std::string(m.memory_bound(r.peak) ? "memory" : "compute"); }},
    {"item", [](const BenchReport&, const Measurement& m) { return words(m.item); }},
    {"items", [](const BenchReport&, const Measurement& m) { return m.item.empty() ? "" : number(m.items); }},
    {"items_per_s",
     [](const BenchReport&, const Measurement& m) { return m.item.empty() ? "" : number(m.items / m.seconds.median); }},
    {"host_s",
     [](const BenchReport&, const Measurement& m) { return m.host_seconds > 0 ? number(m.host_seconds) : ""; }},
};

}  // namespace

Exported export_csv(const ExportInput& input) {
    Exported made;
    for (const Column& column : COLUMNS) made.text += text(made.text.empty() ? "" : ",", column.name);
    made.text += '\n';
    for (const ReportFile& file : input.files)
        for (const Measurement& measurement : file.report.measurements) {
            std::string row;
            for (const Column& column : COLUMNS)
                row += (&column == COLUMNS ? "" : ",") + column.cell(file.report, measurement);
            made.text += row + '\n';
            ++made.measurements;
        }
    return made;
}

}  // namespace vkf
