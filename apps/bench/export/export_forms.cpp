#include "apps/bench/export/export_forms.h"

#include <array>
#include <nlohmann/json.hpp>

#include "apps/cli/option_values.h"
#include "base/text/json_text.h"

namespace vkf {

std::span<const ExportForm> export_forms() {
    static const std::array forms{
        ExportForm{.name = "csv", .contents = "all measurements", .write = export_csv},
        ExportForm{.name = "llama-bench",
                   .contents = "prompts and tokens of bench generate, one text at a time",
                   .write = export_llama_bench},
        ExportForm{.name = "inferena",
                   .contents = "SmolLM2 135M in fp32: steps and prompts of 128 tokens, single tokens",
                   .outputs = true,
                   .write = export_inferena},
        ExportForm{.name = "phoronix", .contents = "all measurements", .write = export_phoronix},
    };
    return forms;
}

std::string number_text(double value) {
    return shortest(rounded(value).get<double>());
}

std::string precision_of(const BenchReport& report, const Measurement& measurement) {
    if (!measurement.precision.empty()) return measurement.precision;
    if (report.precision == "mixed") return "bf16";
    return report.precision == "mixed (float16)" ? "fp16" : report.precision;
}

MeasuredModel measured_model(const Measurement& measurement) {
    MeasuredModel made{.title = measurement.name, .attention = measurement.attention};
    const auto cut = [&](const std::string& words) {  // removes the words from the title
        const std::size_t at = made.title.rfind(words);
        if (at != std::string::npos) made.title.erase(at, words.size());
        return at != std::string::npos;
    };
    if (measurement.family == "step") made.phase = "step";
    if (measurement.family == "generate")
        for (const char* phase : {"prefill", "decode"})
            if (made.phase.empty() && cut(std::string(" ") + phase)) made.phase = phase;
    if (!made.attention.empty()) {
        cut(", " + made.attention);
    } else if (const std::size_t comma = made.title.find(", "); comma != std::string::npos) {
        made.attention = made.title.substr(comma + 2);
        made.title.erase(comma);
    } else {
        made.attention = "standard";
    }
    return made;
}

}  // namespace vkf
