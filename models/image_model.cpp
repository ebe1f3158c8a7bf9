#include "models/image_model.h"

#include "base/error.h"
#include "ops/loss/soft_cross_entropy.h"

namespace vkf {

const Task& image_task() {
    static const Task task{.model = "vision model",
                           .sizes = {Dimension::image_size, Dimension::channels, Dimension::classes}};
    return task;
}

TensorType image_type(const ModelConfig& config, std::int64_t batch, std::int64_t side) {
    if (side == 0) side = config.size(Dimension::image_size);
    return {DType::f32, {batch, config.size(Dimension::channels), side, side}};
}

namespace {

/// Logits of images of any side that the family can take.
Tensor logits_of_any_side(const Scope& scope, const ModelConfig& config, Tensor images) {
    validate(config);
    return std::get<ImageGraph>(config.family().graph).logits(scope, config, images);
}

}  // namespace

Tensor image_logits(const Scope& scope, const ModelConfig& config, Tensor images) {
    const Shape wanted = image_type(config, images.shape()[0]).shape;
    require(images.shape() == wanted, "images are ", images.shape(), ", the model wants ", wanted);
    return logits_of_any_side(scope, config, images);
}

Tensor image_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, bool output_logits,
                  std::int64_t side) {
    Graph& graph = scope.graph();
    const Tensor images = graph.input("images", image_type(config, batch, side));
    const Tensor targets = graph.input("targets", {DType::f32, {batch, config.size(Dimension::classes)}});
    const Tensor logits = logits_of_any_side(scope, config, images);
    if (output_logits) graph.output("logits", logits);
    graph.scope = "loss";
    return soft_cross_entropy(logits, targets);
}

}  // namespace vkf
