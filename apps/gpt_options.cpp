#include "apps/gpt_options.h"

#include <algorithm>

#include "base/error.h"
#include "models/data/dataset.h"
#include "models/files/config_keys.h"
#include "models/files/gpt2_config.h"

namespace vkf {

void GptOptions::declare(CLI::App& app) {
    path(app, "--data", data, "directory with train.bin and val.bin, a token file, or text (file or directory)");
    choice(app, "--order", order, "order of the training windows", {"random", "sequential"});
    option(app, "--n-layer", n_layer, "blocks", whole(1, 10'000));
    option(app, "--n-head", n_head, "attention heads", whole(1, 100'000));
    option(app, "--n-embd", n_embd, "width", whole(1, 1'000'000));
    option(app, "--vocab-size", vocab_size, "vocabulary; 0: what the data needs", whole(0, most_steps));
    option(app, "--block-size", block_size, "tokens in a sequence; a model that is there limits it",
           whole(1, 10'000'000));
    flag(app, "--bias,!--no-bias", bias, "biases in linear layers and norms");
    choice(app, "--activation", activation, "of the MLP: gelu is erf's, gelu_new tanh's", activation_names());
    option(app, "--max-iters", max_iters, "steps", whole(0, most_steps));
    option(app, "--warmup-iters", schedule.warmup_iters, "steps of linear warm-up", whole(0, most_steps));
    option(app, "--lr-decay-iters", schedule.lr_decay_iters, "step at which the decay ends", whole(0, most_steps));
    option(app, "--eval-interval", eval_interval, "steps between evaluations; each writes a checkpoint",
           whole(1, most_steps));
    option(app, "--eval-iters", eval_iters, "micro-batches per split in an evaluation", whole(1, most_steps));
    declare_run(app);
}

void GptOptions::take_origin(const Common& common) {
    if (origin().empty()) return;
    const std::string file = read_origin("gpt2", common);
    const Gpt2Config model = read_gpt2_config(file);
    if (vocab_size == 0) vocab_size = model.vocab_size;
    adopt("--vocab-size", vocab_size, model.vocab_size, file);
    adopt("--n-layer", n_layer, model.n_layer, file);
    adopt("--n-head", n_head, model.n_head, file);
    adopt("--n-embd", n_embd, model.n_embd, file);
    adopt("--bias", bias, model.bias, file);
    adopt("--activation", activation, std::string(name_of(model.activation)), file);
    RunOptions::adopt(model.attention, file);
    require(!given("--block-size") || block_size <= model.n_positions, origin_of("--block-size"), " is ", block_size,
            ", but ", file, " says n_positions ", model.n_positions, ": wanted at most that");
    block_size = std::min(block_size, model.n_positions);
    tell_changes(common);
}

void GptOptions::check() {
    require(schedule.lr_decay_iters >= schedule.warmup_iters, "--lr-decay-iters ", schedule.lr_decay_iters,
            " is before the end of --warmup-iters ", schedule.warmup_iters);
    check_run();
    require_effect("--warmup-iters", schedule.decay_lr || schedule.warmup_iters == 0, "beside --no-decay-lr");
    require_effect("--lr-decay-iters", schedule.decay_lr, "beside --no-decay-lr");
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
