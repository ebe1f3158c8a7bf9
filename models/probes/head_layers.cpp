#include "models/probes/head_layers.h"

#include <algorithm>
#include <utility>

#include "base/integers.h"
#include "models/attention/attention_taps.h"

namespace vkf {

namespace {

/// Calls a function with the index of every weight of a head in its map.
void for_each_weight(const HeadLayer& layer, const HeadLayer::Map& map, std::int64_t head, std::size_t elements,
                     const auto& call) {
    const std::size_t inputs = as_index(layer.heads * layer.width), outputs = elements / inputs;
    const std::size_t first = as_index(head * layer.width), end = first + as_index(layer.width);
    for (std::size_t in = first; in < end; ++in)
        for (std::size_t out = 0; out < outputs; ++out) call(map.out_in ? out * inputs + in : in * outputs + out);
}

}  // namespace

std::vector<HeadLayer> head_layers(const Taps& taps, const Parameters& parameters) {
    std::vector<HeadLayer> layers;
    for (const Tapped& tapped : taps.found) {
        if (tapped.name != tap::output_map) continue;
        const std::string& parameter = tapped.tensor.graph().storage(tapped.tensor).name;
        const auto& maps = parameters.linear_maps();
        const bool out_in =
            std::ranges::find(maps, parameter, [](const LinearMap& map) { return map.path + ".weight"; })->out_in;
        if (layers.empty() || layers.back().name != tapped.path) {
            const Shape& shape = tapped.tensor.shape();
            layers.push_back({tapped.path, shape[out_in ? 1 : 0], shape[out_in ? 2 : 1], {}});
        }
        layers.back().maps.push_back({parameter, out_in});
    }
    return layers;
}

HeadPruning::HeadPruning(State& state, std::vector<HeadLayer> layers) : state_(state), layers_(std::move(layers)) {
    for (const HeadLayer& layer : layers_) {
        auto& weights = weights_.emplace_back();
        for (const HeadLayer::Map& map : layer.maps) weights.push_back(state_.read(map.parameter));
        auto& pruned = pruned_.emplace_back(as_index(layer.heads), true);
        for (std::int64_t head = 0; head < layer.heads; ++head)
            for (std::size_t i = 0; i < layer.maps.size(); ++i)
                for_each_weight(layer, layer.maps[i], head, weights[i].size(), [&](std::size_t at) {
                    if (weights[i][at] != 0) pruned[as_index(head)] = false;
                });
    }
}

std::vector<Head> HeadPruning::left() const {
    std::vector<Head> heads;
    for (std::size_t layer = 0; layer < layers_.size(); ++layer)
        for (std::int64_t head = 0; head < layers_[layer].heads; ++head)
            if (const Head at{layer, head}; !pruned(at)) heads.push_back(at);
    return heads;
}

void HeadPruning::set(const Head& changed, bool pruned) {
    const HeadLayer& layer = layers_[changed.layer];
    pruned_[changed.layer][as_index(changed.head)] = pruned;
    for (std::size_t i = 0; i < layer.maps.size(); ++i) {
        std::vector<float> weights = weights_[changed.layer][i];
        for (std::int64_t head = 0; head < layer.heads; ++head)
            if (pruned_[changed.layer][as_index(head)])
                for_each_weight(layer, layer.maps[i], head, weights.size(), [&](std::size_t at) { weights[at] = 0; });
        state_.write(layer.maps[i].parameter, weights);
    }
}

}  // namespace vkf
