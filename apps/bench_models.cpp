#include "apps/bench_models.h"

#include "apps/image_options.h"
#include "base/random.h"
#include "models/gpt2.h"
#include "models/vit.h"

namespace vkf {

namespace {

constexpr std::int64_t LABELS = 10, SIDE = 32;

/// configs/shakespeare-char-cpu.toml
Gpt2Config small_gpt() {
    Gpt2Config made{.vocab_size = 65, .n_positions = 64, .n_embd = 128, .n_layer = 4, .n_head = 4};
    made.activation = Activation::gelu;
    made.bias = false;
    return made;
}

BenchModel text_model(std::string name, std::string title, ModelConfig config, const std::string& attention,
                      std::int64_t batch, std::int64_t length) {
    config.attention().set_variant(attention);
    return {.name = std::move(name),
            .title = std::move(title),
            .shape = text(batch, 'x', length, " tokens"),
            .item = "token",
            .items = static_cast<double>(batch * length),
            .loss = [=](const Scope& scope) { return language_loss(scope, config, batch, length); },
            .fill =
                [tokens = random_tokens(batch * length, config.size(Dimension::vocab_size))](Program& program) {
                    program.write("tokens", tokens);
                    program.write("targets", tokens);
                },
            .trainer = {},
            .text = config};
}

/// The plain one of both published recipes.
BenchModel image_model(const std::string& attention, std::int64_t batch) {
    ModelConfig config = ImageRunOptions(vit_family()).fresh_model(SIDE, LABELS);
    config.attention().set_variant(attention);
    Random random(1, "images");
    std::vector<float> images(static_cast<std::size_t>(image_type(config, batch).shape.elements()));
    for (float& number : images) number = 2 * random.uniform() - 1;
    const std::vector<float> targets(static_cast<std::size_t>(batch * LABELS), 1.0f / LABELS);
    return {.name = "vit",
            .title = "ViT",
            .shape = text(batch, " images"),
            .item = "image",
            .items = static_cast<double>(batch),
            .loss = [=](const Scope& scope) { return image_loss(scope, config, batch); },
            .fill =
                [images, targets](Program& program) {
                    program.write("images", images);
                    program.write("targets", targets);
                },
            .trainer = {},
            .text = {}};
}

}  // namespace

std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocabulary) {
    Random random(1, "tokens");
    std::vector<std::int32_t> made(static_cast<std::size_t>(count));
    for (std::int32_t& token : made)
        token = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary)));
    return made;
}

Parameters BenchModel::parameters() const {
    Graph graph;
    Parameters made;
    loss(Scope(graph, made));
    return made;
}

std::vector<BenchModel> bench_models(const std::string& attention) {
    mixer_named(attention);
    return {text_model("small-gpt", "small GPT", small_gpt(), attention, 12, 64), image_model(attention, 128),
            text_model("gpt2", "GPT-2 124M", Gpt2Config(), attention, 1, 256)};
}

std::vector<BenchModel> chosen_models(const std::string& name, const std::string& attention) {
    std::vector<BenchModel> made;
    std::string known;
    for (BenchModel& model : bench_models(attention)) {
        known += (known.empty() ? "" : ", ") + model.name;
        if (name.empty() || model.name == name) made.push_back(std::move(model));
    }
    require(!made.empty(), "--model is '", name, "', wanted ", known);
    return made;
}

}  // namespace vkf
