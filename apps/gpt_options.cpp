#include "apps/gpt_options.h"

#include "base/error.h"
#include "models/data/dataset.h"
#include "models/files/config_keys.h"

namespace vkf {

void GptOptions::declare(CLI::App& app) {
    option(app, "--data", data, "directory with train.bin and val.bin, a token file, or text (file or directory)");
    option(app, "--order", order, "order of the training windows: random or sequential");
    option(app, "--n-layer", n_layer, "blocks");
    option(app, "--n-head", n_head, "attention heads");
    option(app, "--n-embd", n_embd, "width");
    option(app, "--vocab-size", vocab_size, "vocabulary; 0: what the data needs");
    option(app, "--block-size", block_size, "tokens in a sequence");
    flag(app, "--bias,!--no-bias", bias, "biases in linear layers and norms");
    option(app, "--activation", activation, "of the MLP: gelu (erf), gelu_new (tanh), relu or silu");
    option(app, "--max-iters", max_iters, "steps");
    option(app, "--warmup-iters", schedule.warmup_iters, "steps of linear warm-up");
    option(app, "--lr-decay-iters", schedule.lr_decay_iters, "step at which the decay ends");
    option(app, "--eval-interval", eval_interval, "steps between evaluations; each writes a checkpoint");
    option(app, "--eval-iters", eval_iters, "micro-batches per split in an evaluation");
    declare_run(app);
}

void GptOptions::check() {
    option_at_least("--n-layer", static_cast<double>(n_layer), 1);
    option_at_least("--n-head", static_cast<double>(n_head), 1);
    option_at_least("--n-embd", static_cast<double>(n_embd), 1);
    option_at_least("--vocab-size", static_cast<double>(vocab_size), 0);
    option_at_least("--block-size", static_cast<double>(block_size), 1);
    option_at_least("--max-iters", static_cast<double>(max_iters), 0);
    option_at_least("--eval-interval", static_cast<double>(eval_interval), 1);
    option_at_least("--eval-iters", static_cast<double>(eval_iters), 1);
    option_at_least("--warmup-iters", static_cast<double>(schedule.warmup_iters), 0);
    require(schedule.lr_decay_iters >= schedule.warmup_iters, "--lr-decay-iters ", schedule.lr_decay_iters,
            " is before the end of --warmup-iters ", schedule.warmup_iters);
    order_named(order);
    check_run();
}

Gpt2Config GptOptions::fresh_model(std::int64_t data_vocabulary) const {
    Gpt2Config c;
    c.vocab_size = vocab_size ? vocab_size : data_vocabulary;
    c.n_positions = block_size;
    c.n_embd = n_embd;
    c.n_layer = n_layer;
    c.n_head = n_head;
    c.bias = bias;
    c.activation = activation_named(activation);
    c.attention = attention_config(3.0f, 0.5f);
    return c;
}

}  // namespace vkf
