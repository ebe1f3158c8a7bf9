// Forms of other programs in which `vkformer bench export` writes reports. A form is a value of export_forms().
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/bench_report.h"

namespace vkf {

/// A report and the file that it was read from.
struct ReportFile {
    std::string path;
    BenchReport report;
};

/// Reports to write in a form.
struct ExportInput {
    std::vector<ReportFile> files;  // at least one
    std::string outputs;            // safetensors file of `vkformer forward`, for forms that have a model's outputs
};

/// Text of a form. Measurements that the form has no place for are not in it.
struct Exported {
    std::string text;
    std::size_t measurements = 0;  // number of those in the text
};

struct ExportForm {
    std::string name;      // value of --as
    std::string contents;  // measurements that the form has a place for, for messages
    bool outputs = false;  // has a model's outputs
    Exported (*write)(const ExportInput& input) = nullptr;
};

std::span<const ExportForm> export_forms();

/// A row for each measurement, with its device and host, in RFC 4180's quoting and with the line ends of Unix.
Exported export_csv(const ExportInput& input);

/// The JSON of `llama-bench -o json`: an array with an object for each prompt that was read and for each token that was
/// written. Its averages are our medians; samples are not in reports.
Exported export_llama_bench(const ExportInput& input);

/// The JSON of one run that inferena's harness reads from a framework, on one line: a model of its list in fp32 with
/// standard attention, and the outputs. Times that were not measured are 0, which the harness shows as none.
/// Throws InputError if the reports are of several devices or versions, or if the outputs lack logits or a loss.
Exported export_inferena(const ExportInput& input);

/// A result file (composite.xml) of the Phoronix Test Suite: a system for each report, a result for each measurement.
/// Throws InputError if a report's date is no moment.
Exported export_phoronix(const ExportInput& input);

// --- Facts that several forms have ---------------------------------------------------------------

/// Shortest text of the number with ten significant digits; whole numbers have all digits.
std::string number_text(double value);

/// Storage of activations: "fp32", "bf16" or "fp16".
std::string precision_of(const BenchReport& report, const Measurement& measurement);

/// Model of a training step or of generation, as a measurement's name says it.
struct MeasuredModel {
    std::string title;      // "GPT-2 124M"
    std::string attention;  // "standard"
    std::string phase;      // "step", "prefill" or "decode"
};

/// Model that was measured; without a phase if the measurement is no whole step and no generation.
MeasuredModel measured_model(const Measurement& measurement);

}  // namespace vkf
