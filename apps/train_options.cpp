#include "apps/train_options.h"

#include <cmath>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "models/data/dataset.h"
#include "models/files/config_keys.h"

namespace vkf {

namespace {

std::string toml_value(const std::string& value) {
    return '"' + value + '"';
}
std::string toml_value(bool value) {
    return value ? "true" : "false";
}
template <class Number>
std::string toml_value(Number value) {
    std::ostringstream stream;
    stream << std::setprecision(std::numeric_limits<Number>::max_digits10) << value;
    return stream.str();
}

}  // namespace

void TrainOptions::declare(CLI::App& app) {
    const auto remember = [&](std::string name, auto& value) {
        entries_.push_back({name.substr(2, name.find(',') - 2), [&value] { return toml_value(value); }});
    };
    const auto option = [&](const char* name, auto& value, const char* help) {
        app.add_option(name, value, help)->capture_default_str()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        remember(name, value);
    };
    const auto flag = [&](const char* name, bool& value, const char* help) {
        app.add_flag(name, value, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        remember(name, value);
    };
    option("--data", data, "directory with train.bin and val.bin, a token file, or text (file or directory)");
    option("--order", order, "order of the training windows: random or sequential");
    option("--out-dir", out_dir, "where the run is kept");
    option("--init-from", init_from, "model directory to start from");
    flag("--resume", resume, "continue the run in --out-dir, bit for bit");
    flag("--overwrite", overwrite, "replace a run that is in --out-dir");

    option("--n-layer", n_layer, "blocks");
    option("--n-head", n_head, "attention heads");
    option("--n-embd", n_embd, "width");
    option("--vocab-size", vocab_size, "vocabulary; 0: what the data needs");
    option("--block-size", block_size, "tokens in a sequence");
    flag("--bias,!--no-bias", bias, "biases in linear layers and norms");
    option("--activation", activation, "of the MLP: gelu (erf), gelu_new (tanh), relu or silu");
    option("--attention", attention, "standard, attentionx, belief, belief-head, belief-star or concat");
    option("--gamma", gamma, "attentionx's gamma; 0: 3 on the sum, 0.5 on the value");
    option("--gamma-on", gamma_on, "attentionx: v - gamma o (sum) or gamma v - o (value)");
    flag("--mask-diagonal", mask_diagonal, "no token attends to itself");
    option("--dropout", trainer.dropout, "dropout rate");

    option("--batch-size", batch_size, "sequences in a micro-batch");
    option("--gradient-accumulation-steps", trainer.gradient_accumulation_steps, "micro-batches in a step");
    option("--max-iters", max_iters, "steps");
    option("--optimizer", optimizer, "adamw, setadam or sgd");
    option("--learning-rate", schedule.learning_rate, "highest learning rate");
    flag("--decay-lr,!--no-decay-lr", schedule.decay_lr, "warm up and decay the learning rate");
    option("--min-lr", schedule.min_lr, "learning rate at the end of the decay");
    option("--warmup-iters", schedule.warmup_iters, "steps of linear warm-up");
    option("--lr-decay-iters", schedule.lr_decay_iters, "step at which the decay ends");
    option("--weight-decay", trainer.optimizer.weight_decay, "weight decay");
    flag("--decay-all", trainer.optimizer.decay_all, "decay every tensor, not only those of two or more dimensions");
    option("--beta1", trainer.optimizer.beta1, "decay of the mean gradient");
    option("--beta2", trainer.optimizer.beta2, "decay of the mean squared gradient");
    option("--eps", eps, "the optimizer's epsilon; 0: 1e-8, setadam 1e-18");
    option("--momentum", trainer.optimizer.momentum, "of sgd");
    option("--grad-clip", trainer.optimizer.grad_clip, "limit of the gradient's global norm; 0: none");

    option("--eval-interval", eval_interval, "steps between evaluations; each writes a checkpoint");
    option("--eval-iters", eval_iters, "micro-batches per split in an evaluation");
    option("--log-interval", log_interval, "steps between lines of metrics.jsonl");
}

void TrainOptions::check() {
    const auto at_least = [](const char* name, double value, double least) {
        require(std::isfinite(value) && value >= least, name, " is ", value, ", wanted at least ", least);
    };
    const auto below_one = [](const char* name, double value) {
        require(value >= 0 && value < 1, name, " is ", value, ", wanted 0 <= x < 1");
    };
    require(!data.empty(), "--data is missing: a directory with train.bin and val.bin, a token file, or text");
    require(!(resume && overwrite), "--resume and --overwrite exclude each other");
    at_least("--n-layer", static_cast<double>(n_layer), 1);
    at_least("--n-head", static_cast<double>(n_head), 1);
    at_least("--n-embd", static_cast<double>(n_embd), 1);
    at_least("--vocab-size", static_cast<double>(vocab_size), 0);
    at_least("--block-size", static_cast<double>(block_size), 1);
    at_least("--batch-size", static_cast<double>(batch_size), 1);
    at_least("--gradient-accumulation-steps", static_cast<double>(trainer.gradient_accumulation_steps), 1);
    at_least("--max-iters", static_cast<double>(max_iters), 0);
    at_least("--eval-interval", static_cast<double>(eval_interval), 1);
    at_least("--eval-iters", static_cast<double>(eval_iters), 1);
    at_least("--log-interval", static_cast<double>(log_interval), 1);
    at_least("--warmup-iters", static_cast<double>(schedule.warmup_iters), 0);
    at_least("--learning-rate", schedule.learning_rate, 0);
    at_least("--min-lr", schedule.min_lr, 0);
    at_least("--weight-decay", trainer.optimizer.weight_decay, 0);
    at_least("--grad-clip", trainer.optimizer.grad_clip, 0);
    at_least("--eps", eps, 0);
    at_least("--gamma", gamma, 0);
    below_one("--dropout", static_cast<double>(trainer.dropout));
    below_one("--beta1", trainer.optimizer.beta1);
    below_one("--beta2", trainer.optimizer.beta2);
    below_one("--momentum", trainer.optimizer.momentum);
    require(schedule.lr_decay_iters >= schedule.warmup_iters, "--lr-decay-iters ", schedule.lr_decay_iters,
            " is before the end of --warmup-iters ", schedule.warmup_iters);
    require(gamma_on == "sum" || gamma_on == "value", "--gamma-on is '", gamma_on, "', wanted sum or value");
    order_named(order);
    trainer.seed = seed;
    trainer.optimizer.kind = optimizer_named(optimizer);
    trainer.optimizer.eps = eps > 0 ? eps : trainer.optimizer.kind == OptimizerKind::setadam ? 1e-18 : 1e-8;
}

Gpt2Config TrainOptions::fresh_model(std::int64_t data_vocabulary) const {
    Gpt2Config c;
    c.vocab_size = vocab_size ? vocab_size : data_vocabulary;
    c.n_positions = block_size;
    c.n_embd = n_embd;
    c.n_layer = n_layer;
    c.n_head = n_head;
    c.bias = bias;
    c.activation = activation_named(activation);
    c.attention.variant = attention;
    c.attention.gamma_on = gamma_on == "sum" ? GammaOn::sum : GammaOn::value;
    c.attention.mask_diagonal = mask_diagonal;
    if (attention == "attentionx")
        c.attention.gamma = gamma > 0 ? static_cast<float>(gamma) : gamma_on == "sum" ? 3.0f : 0.5f;
    return c;
}

std::string TrainOptions::toml() const {
    std::string lines;
    for (const Entry& entry : entries_) {
        if (entry.key == "out-dir" || entry.key == "resume" || entry.key == "overwrite") continue;
        const std::string value =
            entry.key == "data" ? toml_value(std::filesystem::absolute(data).string()) : entry.value();
        lines += entry.key + " = " + value + "\n";
    }
    return lines + "seed = " + std::to_string(seed) + "\n";
}

}  // namespace vkf
