#include "models/probes/attention_probe.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "models/attention/attention_taps.h"
#include "models/families/family.h"

namespace vkf {

namespace {

constexpr std::int64_t POSITIONS = 1024;  // positions whose statistics are read, in whole rows

}  // namespace

AttentionProbe::AttentionProbe(Trainer& trainer, const LossGraph& loss, const ModelConfig& model) {
    require(model.has_attention(), "a ", model.family().title, " has no self-attention to probe");
    model.attention().require_weights("--probe-interval");
    signal_is_phi_ = model.attention().variant_name() == "attentionx";
    graph_ = trainer.compile_evaluation([&](const Scope& scope) {
        Taps taps{.names = attention_tap_names(), .positions = POSITIONS};
        const Tensor made = loss(scope.with_taps(&taps));
        for (const Tapped& tapped : taps.found) scope.graph().output(tapped.output(), tapped.tensor);
        found_ = std::move(taps.found);
        return made;
    });
}

std::vector<AttentionProbe::Layer> AttentionProbe::read(const Feed& feed) {
    Program& program = graph_->program;
    feed(program, 0);
    program.run();
    std::vector<Layer> layers;
    LayerTensors tensors;
    const auto finish = [&] {
        if (!layers.empty()) layers.back().statistics = attention_statistics(tensors, signal_is_phi_);
        tensors = {};
    };
    for (const Tapped& tapped : found_) {
        if (layers.empty() || layers.back().name != tapped.path) {
            finish();
            layers.push_back({tapped.path, {}});
        }
        const Shape& shape = tapped.tensor.shape();
        if (tapped.name == tap::weights) {
            tensors.batch = shape[0];
            tensors.heads = shape[1];
            tensors.queries = shape[2];
            tensors.keys = shape[3];
        }
        tensors.by_name[tapped.name] = program.read(tapped.output());
    }
    finish();
    return layers;
}

nlohmann::ordered_json probe_document(const std::vector<AttentionProbe::Layer>& layers) {
    nlohmann::ordered_json document{{"layers", nlohmann::ordered_json::array()}};
    for (const AttentionProbe::Layer& layer : layers) {
        document["layers"].push_back(layer.name);
        for (const auto& [name, mean] : layer.statistics) {
            document[name]["first"].push_back(mean.first);
            document[name]["all"].push_back(mean.all);
        }
    }
    return document;
}

}  // namespace vkf
