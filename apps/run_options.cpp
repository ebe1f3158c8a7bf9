#include "apps/run_options.h"

#include <cmath>
#include <filesystem>

#include "base/error.h"

namespace vkf {

void option_at_least(const char* name, double value, double least) {
    require(std::isfinite(value) && value >= least, name, " is ", value, ", wanted at least ", least);
}

void option_below_one(const char* name, double value) {
    require(value >= 0 && value < 1, name, " is ", value, ", wanted 0 <= x < 1");
}

void RunOptions::declare_run(CLI::App& app) {
    option(app, "--out-dir", out_dir, "where the run is kept");
    option(app, "--init-from", init_from, "model directory to start from");
    flag(app, "--resume", resume, "continue the run in --out-dir, bit for bit");
    flag(app, "--overwrite", overwrite, "replace a run that is in --out-dir");
    option(app, "--log-interval", log_interval, "steps between lines of metrics.jsonl");

    option(app, "--attention", attention, "standard, attentionx, belief, belief-head, belief-star or concat");
    option(app, "--gamma", gamma, "attentionx's gamma; 0: the papers' choice for the model");
    option(app, "--gamma-on", gamma_on, "attentionx: v - gamma o (sum) or gamma v - o (value)");
    flag(app, "--mask-diagonal,!--no-mask-diagonal", mask_diagonal,
         "no token attends to itself [so in a vision transformer's attentionx with gamma 1]");
    option(app, "--dropout", trainer.dropout, "dropout rate");

    option(app, "--batch-size", batch_size, "sequences or images in a micro-batch");
    option(app, "--gradient-accumulation-steps", trainer.gradient_accumulation_steps, "micro-batches in a step");
    flag(app, "--recompute", trainer.recompute,
         "compute blocks again in the backward pass instead of keeping their values");
    option(app, "--optimizer", optimizer, "adamw, setadam or sgd");
    option(app, "--learning-rate", schedule.learning_rate, "highest learning rate");
    flag(app, "--decay-lr,!--no-decay-lr", schedule.decay_lr, "warm up and decay the learning rate");
    option(app, "--min-lr", schedule.min_lr, "learning rate at the end of the decay");
    option(app, "--weight-decay", trainer.optimizer.weight_decay, "weight decay");
    flag(app, "--decay-all", trainer.optimizer.decay_all,
         "decay every tensor, not only those of two or more dimensions");
    option(app, "--beta1", trainer.optimizer.beta1, "decay of the mean gradient");
    option(app, "--beta2", trainer.optimizer.beta2, "decay of the mean squared gradient");
    option(app, "--eps", eps, "the optimizer's epsilon; 0: 1e-8, setadam 1e-18");
    option(app, "--momentum", trainer.optimizer.momentum, "of sgd");
    option(app, "--grad-clip", trainer.optimizer.grad_clip, "limit of the gradient's global norm; 0: none");
}

void RunOptions::take(const Common& common) {
    seed = common.seed;
    precision = common.precision;
    half = common.half;
    trainer.activations = common.activations();
}

void RunOptions::check_run() {
    require(!(resume && overwrite), "--resume and --overwrite exclude each other");
    option_at_least("--batch-size", static_cast<double>(batch_size), 1);
    option_at_least("--gradient-accumulation-steps", static_cast<double>(trainer.gradient_accumulation_steps), 1);
    option_at_least("--log-interval", static_cast<double>(log_interval), 1);
    option_at_least("--learning-rate", schedule.learning_rate, 0);
    option_at_least("--min-lr", schedule.min_lr, 0);
    option_at_least("--weight-decay", trainer.optimizer.weight_decay, 0);
    option_at_least("--grad-clip", trainer.optimizer.grad_clip, 0);
    option_at_least("--eps", eps, 0);
    option_at_least("--gamma", gamma, 0);
    option_below_one("--dropout", static_cast<double>(trainer.dropout));
    option_below_one("--beta1", trainer.optimizer.beta1);
    option_below_one("--beta2", trainer.optimizer.beta2);
    option_below_one("--momentum", trainer.optimizer.momentum);
    require(gamma_on == "sum" || gamma_on == "value", "--gamma-on is '", gamma_on, "', wanted sum or value");
    trainer.seed = seed;
    trainer.optimizer.kind = optimizer_named(optimizer);
    trainer.optimizer.eps = eps > 0 ? eps : trainer.optimizer.kind == OptimizerKind::setadam ? 1e-18 : 1e-8;
}

AttentionConfig RunOptions::attention_config(float sum_gamma, float value_gamma) const {
    AttentionConfig made;
    made.variant = attention;
    made.gamma_on = gamma_on == "sum" ? GammaOn::sum : GammaOn::value;
    made.mask_diagonal = mask_diagonal.value_or(false);
    if (attention == "attentionx")
        made.gamma = gamma > 0 ? static_cast<float>(gamma) : gamma_on == "sum" ? sum_gamma : value_gamma;
    return made;
}

std::string RunOptions::toml() const {
    std::string lines;
    for (const Entry& entry : entries_) {
        if (entry.key == "out-dir" || entry.key == "resume" || entry.key == "overwrite") continue;
        const std::string value =
            entry.key == "data" ? toml_value(std::filesystem::absolute(data).string()) : entry.value();
        if (!value.empty()) lines += entry.key + " = " + value + "\n";
    }
    lines += "precision = " + toml_value(precision) + "\n";
    if (!half.empty()) lines += "half = " + toml_value(half) + "\n";
    return lines + "seed = " + std::to_string(seed) + "\n";
}

}  // namespace vkf
