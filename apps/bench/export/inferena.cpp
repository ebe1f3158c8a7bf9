// Reports in the form that inferena's harness reads from each framework.

#include <bit>
#include <cmath>

#include "apps/bench/export/export_forms.h"
#include "apps/bench/export/sha256.h"
#include "base/files/safetensors.h"
#include "base/text/json_text.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

/// A model that both programs have: inferena's name, ours for --model, and our title.
struct ArenaModel {
    const char *name, *model, *title;
};

constexpr ArenaModel MODEL{"SmolLM2-135M", "smollm2", "SmolLM2 135M"};
constexpr std::int64_t LENGTH = 128;  // tokens of inferena's input

/// Member of the timings, and the measurement that it takes.
struct Slot {
    const char* timing;
    const char* phase;
    double tokens;
    const char* explanation;
};

constexpr Slot SLOTS[] = {
    {"inference_ms", "prefill", LENGTH, "a prompt of 128 tokens; logits of the last"},
    {"latency_ms", "decode", 1, "a token after the prompt"},
    {"training_ms", "step", LENGTH, "forward, backward and AdamW on 1x128 tokens"},
};

bool fits(const Slot& slot, const BenchReport& report, const Measurement& m) {
    const MeasuredModel model = measured_model(m);
    return model.phase == slot.phase && (m.model.empty() ? model.title == MODEL.title : m.model == MODEL.model) &&
           model.attention == "standard" && precision_of(report, m) == "fp32" && m.items == slot.tokens &&
           (model.phase != "step" || m.shape.starts_with("1x"));
}

/// First measurement that fits; null if there is none.
const Measurement* find(const Slot& slot, const ExportInput& input) {
    for (const ReportFile& file : input.files)
        for (const Measurement& m : file.report.measurements)
            if (fits(slot, file.report, m)) return &m;
    return nullptr;
}

/// Outputs of the model for tokens 0, 1, …, 127 and targets 1, 2, …, 128.
ordered_json outputs_document(const std::string& path) {
    constexpr std::size_t sample = 16;
    const Safetensors file = Safetensors::open(path);
    for (const char* name : {"logits", "loss"})
        require(file.contains(name), path, ": has no ", name,
                ", wanted a file that vkformer forward wrote, of targets");
    const StoredTensor& logits = file.at("logits");
    require(logits.type == StoredType::F32 && logits.shape.size() == 3 && logits.shape[0] == 1 &&
                logits.shape[1] == LENGTH && logits.count() >= sample,
            path, ": wanted logits F32 [1, ", LENGTH, ", V], of the tokens 0 to ", LENGTH - 1);
    const std::vector<float> loss = file.read_f32("loss");
    require(loss.size() == 1 && std::isfinite(loss[0]), path, ": wanted a loss that is one finite number");
    const std::vector<float> values = file.read_f32("logits");
    ordered_json first = ordered_json::array();
    for (std::size_t i = 0; i < sample; ++i) {
        require(std::isfinite(values[i]), path, ": the logits are not finite");
        first.push_back(values[i]);
    }
    return {{"logits_hash", "sha256:" + sha256(logits.bytes)}, {"logits_sample", first}, {"loss", loss[0]}};
}

void require_one_device(const ExportInput& input) {
    const ReportFile& first = input.files.front();
    const auto key = [](const ReportHead& head) { return std::tie(head.device, head.driver, head.version); };
    for (const ReportFile& file : input.files)
        require(key(file.report.head) == key(first.report.head), first.path, " is of ", heading(first.report.head),
                "; ", file.path, " is of ", heading(file.report.head), ": wanted one device and version");
}

}  // namespace

Exported export_inferena(const ExportInput& input) {
    require_one_device(input);
    ordered_json timings{{"compile_s", 0.0}}, explanations = ordered_json::object();
    Exported made;
    for (const Slot& slot : SLOTS) {
        const Measurement* found = find(slot, input);
        timings[slot.timing] = found ? found->seconds.median * 1e3 : 0.0;
        if (!found) continue;
        explanations[slot.timing] = slot.explanation;
        ++made.measurements;
    }
    if (made.measurements == 0) return made;
    const ReportHead& head = input.files.front().report.head;
    made.text = json_text(rounded({{"framework", "vkformer"},
                                   {"vkformer_version", head.version},
                                   {"model", MODEL.name},
                                   {"device", head.device},
                                   {"gpu_name", head.device},
                                   {"driver", head.driver},
                                   {"backend", head.kind == "CPU" ? "Vulkan on the CPU" : "Vulkan"},
                                   {"timings", timings},
                                   {"timed", explanations},
                                   {"outputs", outputs_document(input.outputs)}})) +
                "\n";
    return made;
}

}  // namespace vkf
