#include "models/image_model.h"

#include "base/error.h"
#include "ops/loss/soft_cross_entropy.h"

namespace vkf {

const Task& image_task() {
    static const Task task{.model = "vision model",
                           .sizes = {Dimension::image_size, Dimension::channels, Dimension::classes}};
    return task;
}

TensorType image_type(const ModelConfig& config, std::int64_t batch) {
    const std::int64_t side = config.size(Dimension::image_size);
    return {DType::f32, {batch, config.size(Dimension::channels), side, side}};
}

Tensor image_logits(const Scope& scope, const ModelConfig& config, Tensor images) {
    validate(config);
    const Shape wanted = image_type(config, images.shape()[0]).shape;
    require(images.shape() == wanted, "images are ", images.shape(), ", the model wants ", wanted);
    return std::get<ImageGraph>(config.family().graph).logits(scope, config, images);
}

Tensor image_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, bool output_logits) {
    Graph& graph = scope.graph();
    const Tensor images = graph.input("images", image_type(config, batch));
    const Tensor targets = graph.input("targets", {DType::f32, {batch, config.size(Dimension::classes)}});
    const Tensor logits = image_logits(scope, config, images);
    if (output_logits) graph.output("logits", logits);
    graph.scope = "loss";
    return soft_cross_entropy(logits, targets);
}

}  // namespace vkf
