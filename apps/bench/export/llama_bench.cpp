// Reports in the form of llama.cpp's llama-bench, for programs that compare its results.

#include <cmath>
#include <limits>

#include "apps/bench/compile_report.h"
#include "apps/bench/export/export_forms.h"
#include "base/text/json_text.h"
#include "models/generation/generate.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

/// Most tokens of a prompt that are read at once.
const std::int64_t CHUNK = longest_chunk(std::numeric_limits<std::int64_t>::max());

/// "1a2b3c4" of the version 0.1.0+12.g1a2b3c4; the whole version of a release.
std::string commit_of(const std::string& version) {
    const std::size_t at = version.find_last_of(".+");
    const bool hashed = at != std::string::npos && version.substr(at + 1).starts_with('g');
    return hashed ? version.substr(at + 2) : version;
}

/// Name of ggml's type with this precision.
std::string ggml_type(const std::string& precision) {
    if (precision == "fp32") return "f32";
    return precision == "fp16" ? "f16" : precision;
}

/// Whole nanoseconds, or null.
ordered_json nanoseconds(std::optional<double> seconds) {
    return seconds ? figure_document(std::round(*seconds * 1e9)) : nullptr;
}

/// Tokens that were in the cache before the measured ones: the last prompt of the same model that the report has before
/// them. `decode` is one of the report's measurements.
ordered_json depth_of(const BenchReport& report, const Measurement& decode) {
    const MeasuredModel model = measured_model(decode);
    ordered_json depth = nullptr;
    for (const Measurement& m : report.measurements) {
        if (&m == &decode) break;
        const MeasuredModel other = measured_model(m);
        if (other.phase == "prefill" && other.title == model.title && other.attention == model.attention &&
            precision_of(report, m) == precision_of(report, decode))
            depth = figure_document(m.items);
    }
    return depth;
}

std::optional<double> parameters_of(const BenchReport& report, const Measurement& measurement) {
    for (const ReportModel& model : report.models)
        if (model.name == measurement.model && model.parameters > 0) return static_cast<double>(model.parameters);
    return std::nullopt;
}

/// The form has no field for several texts at once.
bool has_place(const Measurement& measurement) {
    const std::string phase = measured_model(measurement).phase;
    return (phase == "prefill" || (phase == "decode" && measurement.items == 1)) && measurement.item == "token";
}

ordered_json entry_of(const BenchReport& report, const Measurement& m) {
    const MeasuredModel model = measured_model(m);
    const bool cpu = report.head.kind == "CPU", prompt = model.phase == "prefill";
    const std::string precision = precision_of(report, m);
    const std::string processor = report.host ? report.host->processor : "";
    const std::optional<double> parameters = parameters_of(report, m);
    const ordered_json tokens = figure_document(m.items);
    const double rate = m.items / m.seconds.median;
    std::string type = model.title;
    for (const std::string& part : {model.attention == "standard" ? "" : model.attention, precision})
        if (!part.empty()) type += ", " + part;
    return {
        {"build_commit", commit_of(report.head.version)},
        {"build_number", nullptr},
        {"cpu_info", processor.empty() && cpu ? report.head.device : processor},
        {"gpu_info", cpu ? "" : report.head.device},
        {"backends", "Vulkan"},
        {"model_filename", m.model.empty() ? model.title : m.model},
        {"model_type", type},
        {"model_size", parameters ? figure_document(*parameters * 4) : nullptr},  // weights are fp32
        {"model_n_params", figure_document(parameters)},
        // Options of llama-bench. Readers join rows by them and leave out rows that have null.
        {"n_batch", CHUNK},
        {"n_ubatch", CHUNK},
        {"n_threads", report.host ? std::max<std::int64_t>(report.host->threads, 0) : 0},
        {"cpu_mask", "0x0"},
        {"cpu_strict", false},
        {"poll", 0},
        {"type_k", ggml_type(precision)},
        {"type_v", ggml_type(precision)},
        {"n_gpu_layers", cpu ? 0 : 99},
        {"n_cpu_moe", 0},
        {"split_mode", "none"},
        {"main_gpu", 0},
        {"no_kv_offload", false},
        {"flash_attn", 1},
        {"devices", "auto"},
        {"tensor_split", "0.00"},
        {"tensor_buft_overrides", "none"},
        {"use_mmap", false},
        {"load_mode", "none"},
        {"embeddings", false},
        {"no_op_offload", 0},
        {"no_host", false},
        {"fit_target", 0},
        {"fit_min_ctx", 0},
        {"n_prompt", prompt ? tokens : ordered_json(0)},
        {"n_gen", prompt ? ordered_json(0) : tokens},
        {"n_depth", prompt ? ordered_json(0) : depth_of(report, m)},
        {"test_time", report.head.date},
        {"avg_ns", nanoseconds(m.seconds.median)},
        {"stddev_ns", nanoseconds(m.seconds.deviation)},
        {"avg_ts", rate},
        // to first order, as samples are not in the report
        {"stddev_ts", m.seconds.deviation ? ordered_json(rate * *m.seconds.deviation / m.seconds.median) : nullptr},
    };
}

}  // namespace

Exported export_llama_bench(const ExportInput& input) {
    ordered_json list = ordered_json::array();
    for (const ReportFile& file : input.files)
        for (const Measurement& measurement : file.report.measurements)
            if (has_place(measurement)) list.push_back(entry_of(file.report, measurement));
    return {.text = document_text(list), .measurements = list.size()};
}

}  // namespace vkf
