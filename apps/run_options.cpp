#include "apps/run_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "apps/model.h"
#include "base/error.h"
#include "base/file.h"
#include "base/published.h"
#include "models/files/config_json.h"
#include "ops/outlier.h"

namespace vkf {

namespace {

constexpr double unlimited = std::numeric_limits<double>::max();
constexpr Range below_one{.least = 0, .most = 1, .most_too = false};

}  // namespace

std::string train_examples(const Family& family, const std::string& data) {
    const std::string train = text("  vkformer train ", family.command);
    const std::string fresh = text(train, " --config ", family.recipe, " ", data);
    return text("Examples:\n", fresh, " --out-dir out\n", fresh, " --attention belief-star --out-dir star\n", train,
                " --out-dir out --resume");
}

void RunOptions::declare_model(CLI::App& app) {
    for (const Field& of : model.fields())
        if (of.has_option()) field(app, of);
}

void RunOptions::declare_run(CLI::App& app) {
    declare_config(app);
    path(app, "--out-dir", out_dir, "where the run is kept");
    path(app, "--init-from", init_from, "model directory to start from; it says what the model is");
    flag(app, "--resume", resume,
         "continue the run in --out-dir, bit for bit; all may change but the model, the optimizer and float16");
    flag(app, "--overwrite", overwrite, "replace the run, model or data that is in --out-dir");
    option(app, "--log-interval", log_interval, "steps between lines of metrics.jsonl", whole(1, most_steps));

    named_paths(app, "--eval-data", eval_data,
                "another set to evaluate on, by its validation part, as NAME_loss; may be given several times");
    option(app, "--save-total-limit", save_total_limit,
           "so many of the latest checkpoints are also kept, as checkpoint-STEP; 0: none", whole(0, 1'000'000));
    option(app, "--save-minutes", limits.save_minutes,
           "minutes between checkpoints, beside those of evaluations; 0: no others", at_least(0));
    option(app, "--max-minutes", limits.max_minutes, "minutes after which to stop, for --resume to go on; 0: no limit",
           at_least(0));
    option(app, "--early-stopping-patience", limits.early_stopping_patience,
           "evaluations without improvement after which to stop; 0: never", whole(0, most_steps));
    flag(app, "--overfit-one-batch", overfit_one_batch,
         "the same batch at every step, which a sound model learns by heart");
    add_verify_option(app, verify);
    app.add_flag("--dry-run", dry_run,
                 "say what the run would take of memory and time, by a few steps; leaves no file");

    choice(app, "--attention", attention, "what feeds the output map", mixer_names());
    for (const Mixer* mixer : mixers())
        for (const Field& own : mixer_options_.emplace(mixer->name, mixer->options).first->second.fields()) {
            field(app, own);
            keep_if([this, mixer, open = own.open, name = own.option_name()] {
                return attention == mixer->name && (!open || given(name) || !origin().empty());
            });
        }
    flag(app, "--mask-diagonal,!--no-mask-diagonal", mask_diagonal,
         "no token attends to itself [so in a vision transformer's attentionx with gamma 1]");
    option(app, "--dropout", trainer.dropout, "dropout rate", number(below_one));

    option(app, "--batch-size", batch_size, "sequences or images in a micro-batch", whole(1, 100'000));
    option(app, "--gradient-accumulation-steps", trainer.gradient_accumulation_steps, "micro-batches in a step",
           whole(1, 1'000'000));
    flag(app, "--recompute", trainer.recompute,
         "compute blocks again in the backward pass instead of keeping their values");
    choice(app, "--optimizer", optimizer, "how parameters are updated", {"adamw", "setadam", "sgd"});
    option(app, "--learning-rate", schedule.learning_rate, "highest learning rate", at_least(0));
    flag(app, "--decay-lr,!--no-decay-lr", schedule.decay_lr, "warm up and decay the learning rate");
    option(app, "--min-lr", schedule.min_lr, "learning rate at the end of the decay", at_least(0));
    option(app, "--weight-decay", trainer.optimizer.weight_decay, "weight decay", at_least(0));
    flag(app, "--decay-all", trainer.optimizer.decay_all,
         "decay every tensor, not only those of two or more dimensions");
    option(app, "--beta1", trainer.optimizer.beta1, "decay of the mean gradient", number(below_one));
    option(app, "--beta2", trainer.optimizer.beta2, "decay of the mean squared gradient", number(below_one));
    option(app, "--eps", eps, "the optimizer's epsilon; else 1e-8, setadam's 1e-18",
           number({.least = 0, .most = unlimited}));
    option(app, "--momentum", trainer.optimizer.momentum, "of sgd", number(below_one));
    option(app, "--grad-clip", trainer.optimizer.grad_clip, "limit of the gradient's global norm; 0: none",
           at_least(0));
    option(app, "--skip-outlier-gradients", trainer.optimizer.skip_outliers,
           "skip a step whose gradient's norm is so many standard deviations above the last 128's mean; 0: none",
           number({.least = 0, .most = 11}));
    option(app, "--model-ema-decay", trainer.optimizer.ema_decay,
           "decay of the weights' moving average, which evaluations and best/ then take; 0: none", number(below_one));
    remember("precision", [this] { return std::optional<ConfigValue>(precision); });
    remember("half", [this] { return half.empty() ? std::nullopt : std::optional<ConfigValue>(half); });
    remember("seed", [this] { return std::optional<ConfigValue>(static_cast<std::int64_t>(seed)); });
}

void RunOptions::settle(const Common& common) {
    read_configs();
    seed = common.seed;
    precision = common.precision;
    half = common.half;
    trainer.activations = common.activations();
}

void require_mixed(const Common& common) {
    require(common.half.empty() || common.precision == "mixed", "--half is ", common.half, ", but --precision is ",
            common.precision, "; wanted --precision mixed with it");
}

void RunOptions::require_effect(const std::string& name, bool effective, const std::string& why) const {
    require(effective || !on_command_line(name), name, " has no effect ", why);
}

void RunOptions::check_run(std::int64_t evaluations) {
    require(!(resume && overwrite), "--resume and --overwrite exclude each other");
    require(!(resume && dry_run),
            "--resume and --dry-run exclude each other: a dry run is of a run from its beginning");
    for (auto set = eval_data.begin(); set != eval_data.end(); ++set) {
        const auto same = [&](const NamedPath& other) { return other.name == set->name; };
        require(set->name != "train" && set->name != "val" && std::none_of(eval_data.begin(), set, same),
                "--eval-data ", set->name, "=", set->path.string(), ": there is a set named ", set->name,
                " already, wanted another");
    }
    require_effect("--early-stopping-patience",
                   limits.early_stopping_patience == 0 || limits.early_stopping_patience < evaluations,
                   text("on a run with ", evaluations, " evaluations after the first: wanted less than that"));
    require(half.empty() || precision == "mixed", "--half is ", half, ", but --precision is ", precision,
            "; wanted --precision mixed with it");
    const bool sgd = optimizer == "sgd";
    for (const Mixer* mixer : mixers())
        for (const Field& own : mixer->options.places())
            require_effect(
                own.option_name(), attention == mixer->name,
                text("on --attention ", attention, ", wanted --attention ", mixers_with(own.key), " with it"));
    for (const char* name : {"--beta1", "--beta2", "--eps"})
        require_effect(name, !sgd, "on --optimizer sgd, wanted adamw or setadam with it");
    require_effect("--momentum", sgd, "on --optimizer " + optimizer + ", wanted --optimizer sgd with it");
    require_effect("--min-lr", schedule.decay_lr, "beside --no-decay-lr");
    if (eps && *eps == 0) {  // earlier versions wrote 0 for what had not been given
        require(!on_command_line("--eps"), "--eps is 0, wanted a number above 0, or nothing for the optimizer's own");
        eps.reset();
    }
    choose_attention();
    trainer.seed = seed;
    trainer.optimizer.kind = optimizer_named(optimizer);
    trainer.optimizer.eps = eps.value_or(trainer.optimizer.kind == OptimizerKind::setadam ? 1e-18 : 1e-8);
}

// --- A model or a run that is there already ------------------------------------------------------

Feed RunOptions::training_feed(Feed feed, std::int64_t steps) const {
    require_effect(
        "--skip-outlier-gradients", trainer.optimizer.skip_outliers == 0 || steps > outlier_window,
        text("on a run of ", steps, " steps: the first ", outlier_window, " are what later ones are compared with"));
    return overfit_one_batch ? first_update_only(std::move(feed), trainer.gradient_accumulation_steps) : feed;
}

std::string RunOptions::read_origin(const Common& common) {
    const std::filesystem::path folder = origin(), kept = folder / "train.toml";
    require(!resume || holds_adapters(folder) || file_exists(folder / "config.json"),
            folder.string(), " holds no run to resume (config.json is missing): begin one without --resume");
    const std::filesystem::path file = whole_model(folder) / "config.json";
    const Family& found = read_family(file);
    require(&found == &family(), resume ? "--resume: " : "--init-from: ", folder.string(), " holds a ", found.command,
            resume ? " run" : " model", " (", file.string(), ": model_type ", found.model_type, "), wanted `train ",
            found.command, "`");
    if (!resume) return file.string();
    const std::string init = given("--init-from") ? std::filesystem::absolute(init_from).string() : "";
    if (file_exists(kept)) read_base(kept);
    settle(common);
    const ConfigValue* began = base("init-from");
    require(init.empty() || (began && std::filesystem::absolute(argument(*began)) == init), origin_of("--init-from"),
            " and --resume exclude each other: a run goes on from its own weights");
    require_same_states(kept.string());
    return file.string();
}

void RunOptions::tell_changes(const Common& common) const {
    if (const std::string list = changes(); !list.empty()) note(common, "resumed with " + list);
}

void RunOptions::require_same_states(const std::string& run) const {
    const auto was = [&](const char* key, const char* otherwise) {
        const ConfigValue* value = base(key);
        return value ? argument(*value) : otherwise;
    };
    const auto same = [&](const char* name, bool kept, const std::string& now, const std::string& then) {
        require(kept, origin_of(name), " is ", now, ", but ", run, " says ", then,
                ", and the run keeps that one's states: wanted the same, or a fresh run with --init-from ", out_dir);
    };
    if (!base("optimizer")) return;
    const std::string kind = was("optimizer", "");
    same("--optimizer", optimizer == kind, optimizer, kind);
    const std::string momentum = was("momentum", "0.9"), now = argument(trainer.optimizer.momentum);
    const bool had = read_number(momentum).value_or(0) > 0, has = trainer.optimizer.momentum > 0;
    same("--momentum", optimizer != "sgd" || had == has, now, momentum);
    const std::string average = was("model-ema-decay", "0"), decay = argument(trainer.optimizer.ema_decay);
    same("--model-ema-decay", (read_number(average).value_or(0) > 0) == (trainer.optimizer.ema_decay > 0), decay,
         average);
    const std::string skipping = was("skip-outlier-gradients", "0"), limit = argument(trainer.optimizer.skip_outliers);
    same("--skip-outlier-gradients", (read_number(skipping).value_or(0) > 0) == (trainer.optimizer.skip_outliers > 0),
         limit, skipping);
    const std::string one_batch = was("overfit-one-batch", "false");
    require(overfit_one_batch == (one_batch == "true"), origin_of("--overfit-one-batch"), " is ",
            overfit_one_batch ? "true" : "false", ", but ", run, " says ", one_batch,
            ": wanted the same, or a fresh run with --init-from ", out_dir);
    const auto format = [](const std::string& p, const std::string& h) {
        return p != "mixed" ? p : h.empty() ? "bfloat16" : h;
    };
    const std::string then = format(was("precision", "fp32"), was("half", "")), wanted = format(precision, half);
    same(given("--half") ? "--half" : "--precision", (then == "float16") == (wanted == "float16"), wanted, then);
}

void RunOptions::adopt(const Field& own, const Field& its, const std::string& file) {
    const auto* whole = std::get_if<Whole>(&own.value);
    const bool unsaid = (whole && whole->resolved() == 0) || !own.has_option();
    std::string value = vkf::shown(own);
    if (!unsaid) adopt(own.option_name().c_str(), value, vkf::shown(its), file);
    assign(own, its);
}

void RunOptions::adopt(ModelConfig there, const std::string& file) {
    const std::vector<Field> its = there.fields();
    for (std::size_t i = 0; i < its.size(); ++i) {
        const Field own = model.fields()[i];  // what a 0 stands for follows from those before
        if (own.saved)
            adopt(own, its[i], file);
        else
            require_effect(own.option_name(), false, "on a model that is there already");
    }
    const AttentionConfig& its_attention = there.attention();
    adopt("--attention", attention, its_attention.variant(), file);
    adopt("--mask-diagonal", mask_diagonal, std::optional(its_attention.mask_diagonal), file);
    const std::vector<Field> its_options = its_attention.options.places();
    std::vector<Field> options = mixer_options_.at(attention).fields();
    for (std::size_t i = 0; i < options.size(); ++i) adopt(options[i], its_options[i], file);
}

AttentionConfig RunOptions::attention_config() const {
    AttentionConfig made(attention);
    made.options = mixer_options_.at(attention);
    made.mask_diagonal = mask_diagonal.value_or(chosen_mask_diagonal_);
    return made;
}

void RunOptions::choose_attention() {
    const Mixer& mixer = mixer_named(attention);
    if (!mixer.choose || !origin().empty()) return;
    AttentionConfig made = attention_config();
    mixer.choose(made, family().task(), [this, &made](std::string_view key) {
        const std::vector<Field> fields = made.fields();
        const auto field = std::ranges::find(fields, key, &Field::key);
        return field != fields.end() && given(field->option_name());
    });
    chosen_mask_diagonal_ = made.mask_diagonal;
    const std::vector<Field> chosen = made.options.fields(), own = mixer_options_.at(attention).fields();
    for (std::size_t i = 0; i < own.size(); ++i) assign(own[i], chosen[i]);
}

}  // namespace vkf
