#include "models/probes/attention_probe.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "models/attention/attention_taps.h"
#include "models/families/family.h"

namespace vkf {

namespace {

constexpr std::int64_t POSITIONS = 1024;  // positions whose statistics are read, in whole rows

}  // namespace

AttentionProbe::AttentionProbe(const Compile& compile, const LossGraph& loss, const ModelConfig& model,
                               std::string_view purpose) {
    require(model.has_attention(), "a ", model.family().title, " has no self-attention to probe");
    model.attention().require_weights(purpose);
    signal_is_phi_ = model.attention().variant_name() == "attentionx";
    graph_ = compile([&](const Scope& scope) {
        Taps taps{.names = attention_tap_names(), .positions = POSITIONS};
        for (const std::string_view cross : {tap::cross_weights, tap::cross_attended}) taps.names.emplace_back(cross);
        const Tensor made = loss(scope.with_taps(&taps));
        for (const Tapped& tapped : taps.found) scope.graph().output(tapped.output(), tapped.tensor);
        found_ = std::move(taps.found);
        return made;
    });
}

AttentionProbe::AttentionProbe(Trainer& trainer, const LossGraph& loss, const ModelConfig& model)
    : AttentionProbe([&](const LossGraph& probed) { return trainer.compile_evaluation(probed); }, loss, model,
                     "--probe-interval") {}

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
        const bool weights = tapped.name == tap::weights || tapped.name == tap::cross_weights;
        if (weights) {
            tensors.cross = tapped.name == tap::cross_weights;
            tensors.batch = shape[0];
            tensors.heads = shape[1];
            tensors.queries = shape[2];
            tensors.keys = shape[3];
        }
        const std::string_view name = weights                              ? tap::weights
                                      : tapped.name == tap::cross_attended ? tap::attended
                                                                           : std::string_view(tapped.name);
        tensors.by_name[std::string(name)] = program.read(tapped.output());
    }
    finish();
    return layers;
}

nlohmann::ordered_json probe_document(const std::vector<AttentionProbe::Layer>& layers) {
    nlohmann::ordered_json document{{"layers", nlohmann::ordered_json::array()}};
    for (const AttentionProbe::Layer& layer : layers) {
        document["layers"].push_back(layer.name);
        for (const auto& [name, mean] : layer.statistics) document[name] = nlohmann::ordered_json::object();
    }
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    for (auto& [name, of_layers] : document.items())
        for (const AttentionProbe::Layer& layer : layers) {
            if (name == "layers") break;
            const auto found = layer.statistics.find(name);
            const TokenMean mean = found == layer.statistics.end() ? TokenMean{none, none} : found->second;
            of_layers["first"].push_back(mean.first);
            of_layers["all"].push_back(mean.all);
        }
    return document;
}

}  // namespace vkf
