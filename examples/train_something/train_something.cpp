// Trains a GPT of two layers with belief attention until it knows a rhyme by heart, and prints the loss.
#include <cstdio>
#include <exception>
#include <string>

#include "models/data/text/text.h"
#include "models/families/gpt2.h"
#include "models/train/token_feed.h"
#include "vulkan/device/device.h"

int main() try {
    const std::string text =
        "Twinkle, twinkle, little star, how I wonder what you are! "
        "Up above the world so high, like a diamond in the sky. ";
    const vkf::Characters characters = vkf::Characters::of(text);
    const vkf::TokenList tokens = characters.tokens_of(text);

    vkf::Gpt2Config model;
    model.vocab_size = static_cast<std::int64_t>(characters.size());
    model.n_positions = 32;
    model.n_embd = 64;
    model.n_layer = 2;
    model.n_head = 4;
    model.attention = vkf::AttentionConfig("belief-star");

    constexpr std::int64_t rows = 8, steps = 100;
    const vkf::Batches batches("train", tokens, {.rows = rows, .length = 32, .seed = 1});
    const auto loss = [&](const vkf::Scope& scope) {
        return vkf::language_loss(scope, model, rows, model.n_positions);
    };

    vkf::Device device;
    vkf::Trainer trainer(device, loss, loss, vkf::TrainerConfig{});
    std::printf("%lld parameters on %s\n", static_cast<long long>(trainer.parameters().count()),
                device.info().name.c_str());
    for (std::int64_t it = 0; it < steps; ++it) {
        const vkf::StepResult step = trainer.step(it, 3e-3, vkf::feed_of(batches));
        if ((it + 1) % 20 == 0) std::printf("step %lld: loss %.4f\n", static_cast<long long>(it + 1), step.loss);
    }
} catch (const std::exception& error) {
    std::fprintf(stderr, "train_something: error: %s\n", error.what());
    return 1;
}
