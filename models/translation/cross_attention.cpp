#include "models/translation/cross_attention.h"

#include <algorithm>

#include "base/error.h"
#include "base/integers.h"
#include "models/translation_model.h"

namespace vkf {

namespace {

std::string layer_name(std::size_t layer) {
    return text("layer ", layer);
}

}  // namespace

CrossAttention::CrossAttention(Device& device, const ModelConfig& config, std::int64_t source, std::int64_t target)
    : source_(source), target_(target), begin_(translation_tokens(config).begin), state_(device) {
    graph_ = std::make_unique<CompiledGraph>(device, state_, Format::f32, [&](Graph& graph) {
        const std::vector<Tensor> layers = cross_attention_weights(Scope(graph, parameters_), config, source, target);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            heads_.push_back(layers[i].shape()[1]);
            graph.output(layer_name(i), layers[i]);
        }
    });
}

std::vector<AlignmentWeights> CrossAttention::weights(std::span<const std::int32_t> source,
                                                      std::span<const std::int32_t> target) {
    require(!source.empty() && !target.empty() && std::ssize(source) <= source_ && std::ssize(target) <= target_,
            "a source of ", source.size(), " and a target of ", target.size(), " tokens, and there is room for ",
            source_, " and ", target_);
    std::vector<std::int32_t> read(as_index(source_)), written(as_index(target_));
    std::ranges::copy(source, read.begin());
    written.front() = begin_;
    std::ranges::copy(target.first(target.size() - 1), written.begin() + 1);
    Program& program = graph_->program;
    program.write("source_tokens", read);
    program.write("source_lengths", std::vector{static_cast<std::int32_t>(source.size())});
    program.write("tokens", written);
    program.write("target_lengths", std::vector{static_cast<std::int32_t>(target.size())});
    program.run();

    std::vector<AlignmentWeights> made;
    for (std::size_t layer = 0; layer < heads_.size(); ++layer) {
        const std::vector<float> all = program.read(layer_name(layer));
        const std::size_t heads = as_index(heads_[layer]), width = as_index(source_), rows = as_index(target_);
        AlignmentWeights& mean = made.emplace_back(source.size() * target.size());
        for (std::size_t h = 0; h < heads; ++h)
            for (std::size_t t = 0; t < target.size(); ++t)
                for (std::size_t s = 0; s < source.size(); ++s)
                    mean[t * source.size() + s] += all[(h * rows + t) * width + s] / static_cast<float>(heads);
    }
    return made;
}

}  // namespace vkf
