#include "apps/train/run_options.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/output_file.h"
#include "apps/model.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/files/published.h"
#include "models/attention/kind.h"
#include "models/attention/variant.h"
#include "models/families/accounting.h"
#include "models/files/config_json.h"
#include "ops/optimizer/outlier.h"

namespace vkf {

namespace {

constexpr double unlimited = std::numeric_limits<double>::max();
constexpr Range below_one{.least = 0, .most = 1, .most_too = false};

/// Positions of the longest sequence that a model's layers work on: its context, or the tokens of an image.
std::int64_t longest_sequence(const ModelConfig& config) {
    if (config.has(Dimension::context)) return config.size(Dimension::context);
    return config.family().accounting->sizes(config, 1).blocks.front().length;
}

}  // namespace

std::string train_examples(const Family& family, const std::string& data) {
    const std::string train = text("  vkformer train ", family.command);
    const std::string fresh = text(train, " --config ", family.recipe, " ", data);
    const std::string star =
        family.fresh().has_attention() ? text(fresh, " --attention belief-star --out-dir star\n") : "";
    return text("Examples:\n", fresh, " --out-dir out\n", star, train, " --out-dir out --resume");
}

void RunOptions::declare_model(cli::Command& app) {
    for (const Field& of : model.fields())
        if (of.has_option()) field(app, of);
}

void RunOptions::declare_attention(cli::Command& app) {
    choice(app, "--attention", attention, "what feeds the output map", variant_names());
    declare_options_of(app, "--attention", attention, variants(), variant_options_);
    choice(app, "--attention-kind", attention_kind, "how attention's result comes about", kind_names());
    declare_options_of(app, "--attention-kind", attention_kind, attention_kinds(), kind_options_);
    flag(app, "--mask-diagonal,!--no-mask-diagonal", mask_diagonal,
         "no token attends to itself [so in a vision transformer's attentionx with gamma 1]");
}

template <class Registered>
void RunOptions::declare_options_of(cli::Command& app, const char* choice, const std::string& chosen,
                                    std::span<const Registered* const> all, OptionsByName& kept) {
    for (const Registered* one : all)
        for (const Field& own : kept.emplace(one->name, one->options).first->second.fields()) {
            field(app, own);
            keep_if([this, &chosen, one, unset = own.unset_by_default, name = own.option_name()] {
                return chosen == one->name && (!unset || given(name) || !origin().empty());
            });
            effective_if([&chosen, one] { return chosen == one->name; },
                         [&chosen, one, choice] {
                             return text("on ", choice, " ", chosen, ", wanted ", choice, " ", one->name, " with it");
                         });
        }
}

void RunOptions::declare_run(cli::Command& app) {
    declare_config(app);
    path(app, "--out-dir", out_dir, "where the run is kept");
    path(app, "--init-from", init_from, "model directory to start from; it says what the model is");
    flag(app, "--resume", resume,
         "continue the run in --out-dir, bit for bit; all may change but the model, the optimizer and float16");
    flag(app, "--overwrite", overwrite, "replace the run, model or data that is in --out-dir");
    option(app, "--log-interval", log_interval, "steps between lines of metrics.jsonl", whole(1, most_steps));
    option(app, "--probe-interval", probe_interval,
           "steps between probes of every self-attention on the first validation batch, into metrics.jsonl; 0: none",
           whole(0, most_steps));

    option(app, "--peak-gflops", peak_gflops,
           "the device's peak, as `bench` measures it: metrics.jsonl has the share that a step reaches; 0: not known",
           at_least(0));
    keep_if([this] { return peak_gflops > 0; });
    named_paths(app, "--eval-data", eval_data,
                "another set to evaluate on, by its validation part, as NAME_loss; may be given several times");
    choice(app, "--eval-precision", eval_precision, "what evaluations compute in: fp32, or what training computes in",
           {"as-training", "fp32"});
    option(app, "--save-total-limit", save_total_limit,
           "so many of the latest checkpoints are also kept, as checkpoint-STEP; 0: none", whole(0, 1'000'000));
    option(app, "--save-minutes", limits.save_minutes,
           "minutes between checkpoints, beside those of evaluations; 0: no others", at_least(0));
    option(app, "--max-minutes", limits.max_minutes, "minutes after which to stop, for --resume to go on; 0: no limit",
           at_least(0));
    option(app, "--early-stopping-patience", limits.early_stopping_patience,
           "evaluations without improvement after which to stop; 0: never", whole(0, most_steps));
    effective_if(
        [this] { return limits.early_stopping_patience == 0 || limits.early_stopping_patience < evaluations_; },
        [this] { return text("on a run with ", evaluations_, " evaluations after the first: wanted less than that"); });
    flag(app, "--overfit-one-batch", overfit_one_batch,
         "the same batch at every step, which a sound model learns by heart");
    fixed_by_run("false");
    add_verify_option(app, verify);
    app.add_flag("--dry-run", dry_run,
                 "say what the run would take of memory and time, by a few steps; leaves no file");
    app.add_option("--trace", trace,
                   "with --dry-run: write a timeline of three steps, kernel by kernel, for Perfetto or Chrome")
        .type_name("FILE.json");

    if (model.has_attention()) declare_attention(app);
    option(app, "--dropout", trainer.dropout, "dropout rate", number(below_one));

    option(app, batch_option.name, batch_size, batch_option.help, whole(1, batch_option.most));
    option(app, "--gradient-accumulation-steps", trainer.gradient_accumulation_steps, "micro-batches in a step",
           whole(1, 1'000'000));
    flag(app, "--recompute", trainer.recompute,
         "compute blocks again in the backward pass instead of keeping their values");
    choice(app, "--optimizer", optimizer, "how parameters are updated", {"adamw", "setadam", "sgd"});
    fixed_by_run("adamw");
    const auto adaptive = [this] { return optimizer != "sgd"; };
    const char* const not_sgd = "on --optimizer sgd, wanted adamw or setadam with it";
    option(app, "--learning-rate", schedule.learning_rate, "highest learning rate", at_least(0));
    flag(app, "--decay-lr,!--no-decay-lr", schedule.decay_lr, "warm up and decay the learning rate");
    option(app, "--min-lr", schedule.min_lr, "learning rate at the end of the decay", at_least(0));
    effective_if([this] { return schedule.decay_lr; }, "beside --no-decay-lr");
    option(app, "--weight-decay", trainer.optimizer.weight_decay, "weight decay", at_least(0));
    flag(app, "--decay-all", trainer.optimizer.decay_all,
         "decay every tensor, not only those of two or more dimensions");
    option(app, "--no-decay", undecayed, "parameters that do not decay, as cls_token,pos_embed", words());
    option(app, "--beta1", trainer.optimizer.beta1, "decay of the mean gradient", number(below_one));
    effective_if(adaptive, not_sgd);
    option(app, "--beta2", trainer.optimizer.beta2, "decay of the mean squared gradient", number(below_one));
    effective_if(adaptive, not_sgd);
    option(app, "--eps", eps, "the optimizer's epsilon; else 1e-8, setadam's 1e-18",
           number({.least = 0, .most = unlimited}));
    effective_if(adaptive, not_sgd);
    option(app, "--momentum", trainer.optimizer.momentum, "of sgd", number(below_one));
    effective_if([this] { return optimizer == "sgd"; },
                 [this] { return "on --optimizer " + optimizer + ", wanted --optimizer sgd with it"; });
    fixed_by_run("0.9", [this](const std::string& value) { return optimizer == "sgd" ? on_or_off(value) : ""; });
    option(app, "--grad-clip", trainer.optimizer.grad_clip, "limit of the gradient's global norm; 0: none",
           at_least(0));
    option(app, "--skip-outlier-gradients", trainer.optimizer.skip_outliers,
           "skip a step whose gradient's norm is so many standard deviations above the last 128's mean; 0: none",
           number({.least = 0, .most = 11}));
    fixed_by_run("0", on_or_off);
    option(app, "--model-ema-decay", trainer.optimizer.ema_decay,
           "decay of the weights' moving average, which evaluations and best/ then take; 0: none", number(below_one));
    fixed_by_run("0", on_or_off);
    remember("precision", [this] { return std::optional<ConfigValue>(precision); });
    remember("half", [this] { return half.empty() ? std::nullopt : std::optional<ConfigValue>(half); });
    remember("seed", [this] { return std::optional<ConfigValue>(static_cast<std::int64_t>(seed)); });
}

void RunOptions::resolve(const Common& common) {
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

void RunOptions::check_run(std::int64_t evaluations) {
    trainer.evaluate_f32 = eval_precision == "fp32";
    require(!(resume && overwrite), "--resume and --overwrite exclude each other");
    require(!(resume && dry_run),
            "--resume and --dry-run exclude each other: a dry run is of a run from its beginning");
    require(trace.empty() || dry_run, "--trace has no effect without --dry-run");
    require_trace_file();
    for (auto set = eval_data.begin(); set != eval_data.end(); ++set) {
        const auto same = [&](const NamedPath& other) { return other.name == set->name; };
        require(set->name != "train" && set->name != "val" && std::none_of(eval_data.begin(), set, same),
                "--eval-data ", set->name, "=", set->path.string(), ": there is a set named ", set->name,
                " already, wanted another");
    }
    evaluations_ = evaluations;
    require_effects();
    require(half.empty() || precision == "mixed", "--half is ", half, ", but --precision is ", precision,
            "; wanted --precision mixed with it");
    if (eps && *eps == 0) {  // earlier versions wrote 0 if it had not been given
        require(!on_command_line("--eps"), "--eps is 0, wanted a number above 0, or nothing for the optimizer's own");
        eps.reset();
    }
    choose_attention();
    std::istringstream names(undecayed);
    for (std::string name; std::getline(names, name, ',');) trainer.optimizer.no_decay.push_back(name);
    trainer.seed = seed;
    trainer.optimizer.kind = optimizer_named(optimizer);
    trainer.optimizer.eps = eps.value_or(trainer.optimizer.kind == OptimizerKind::setadam ? 1e-18 : 1e-8);
}

// --- Existing models and runs --------------------------------------------------------------------

Feed RunOptions::training_feed(Feed feed, std::int64_t steps) const {
    require_effect(
        "--skip-outlier-gradients", trainer.optimizer.skip_outliers == 0 || steps > outlier_window,
        text("on a run of ", steps, " steps: the first ", outlier_window, " are what later ones are compared with"));
    return overfit_one_batch ? first_update_only(std::move(feed), trainer.gradient_accumulation_steps) : feed;
}

void RunOptions::require_trace_file() const {
    if (trace.empty()) return;
    require_output("--trace", trace, {data, init_from});
    std::error_code ignored;
    require(overwrite || !std::filesystem::exists(trace, ignored), "--trace ", trace,
            " is there already; --overwrite replaces it");
}

std::string RunOptions::read_origin(const Common& common) {
    const std::filesystem::path folder = origin(), kept = folder / "train.toml";
    require(!resume || holds_adapters(folder) || file_exists(folder / "config.json"), folder.string(),
            " holds no run to resume (config.json is missing): begin one without --resume");
    const std::filesystem::path file = whole_model(folder) / "config.json";
    const Family& found = read_family(file);
    const bool begins = !resume && family().pretrained_by(found);
    require(&found == &family() || begins, resume ? "--resume: " : "--init-from: ", folder.string(), " holds a ",
            found.command, resume ? " run" : " model", " (", file.string(), ": model_type ", found.model_type,
            "), wanted `train ", found.command, "`");
    if (!resume) return file.string();
    const std::string init = given("--init-from") ? std::filesystem::absolute(init_from).string() : "";
    if (file_exists(kept)) read_base(kept);
    resolve(common);
    const ConfigValue* began = base("init-from");
    require(init.empty() || (began && std::filesystem::absolute(argument(*began)) == init), origin_of("--init-from"),
            " and --resume exclude each other: a run goes on from its own weights");
    if (!base("optimizer")) return file.string();
    require_fixed(kept.string(), out_dir);
    require_same_format(kept.string());
    return file.string();
}

void RunOptions::note_changes(const Common& common) const {
    if (const std::string list = changes(); !list.empty()) note(common, "resumed with " + list);
}

/// Loss scaling of float16 has states, which a run keeps.
void RunOptions::require_same_format(const std::string& run) const {
    const auto word = [&](const char* key, const char* absent) {
        const ConfigValue* value = base(key);
        return value ? argument(*value) : absent;
    };
    const auto format = [](const std::string& p, const std::string& h) {
        return p != "mixed" ? p : h.empty() ? "bfloat16" : h;
    };
    const std::string then = format(word("precision", "fp32"), word("half", "")), now = format(precision, half);
    require((then == "float16") == (now == "float16"), origin_of(given("--half") ? "--half" : "--precision"), " is ",
            now, ", but ", run, " says ", then,
            ", and the run keeps that one's states: wanted the same, or a fresh run with --init-from ", out_dir);
}

void RunOptions::adopt(const Field& own, const Field& other, const std::string& file) {
    const auto* whole = std::get_if<IntRange>(&own.value);
    const bool unsaid = (whole && whole->resolved() == 0) || !own.has_option();
    std::string value = vkf::shown(own);
    if (!unsaid) adopt(own.option_name().c_str(), value, vkf::shown(other), file);
    assign(own, other);
}

void RunOptions::adopt(ModelConfig there, const std::string& file) {
    const std::vector<Field> its = there.fields();
    for (std::size_t i = 0; i < its.size(); ++i) {
        const Field own = model.fields()[i];  // the meaning of a 0 depends on earlier fields
        if (own.saved)
            adopt(own, its[i], file);
        else
            require_effect(own.option_name(), false, "on a model that is there already");
    }
    if (!there.has_attention()) return;
    const AttentionConfig& its_attention = there.attention();
    adopt("--attention", attention, its_attention.variant_name(), file);
    adopt("--attention-kind", attention_kind, its_attention.kind_name(), file);
    adopt("--mask-diagonal", mask_diagonal, std::optional(its_attention.mask_diagonal), file);
    const auto adopt_options = [&](AnyConfig& options, const AnyConfig& its_options) {
        const std::vector<Field> own = options.fields(), its_own = its_options.places();
        for (std::size_t i = 0; i < own.size(); ++i) adopt(own[i], its_own[i], file);
    };
    adopt_options(variant_options_.at(attention), its_attention.options);
    adopt_options(kind_options_.at(attention_kind), its_attention.kind_options);
}

AttentionConfig RunOptions::attention_config() const {
    AttentionConfig made(attention);
    made.options = variant_options_.at(attention);
    made.set_kind(attention_kind);
    made.kind_options = kind_options_.at(attention_kind);
    made.mask_diagonal = mask_diagonal.value_or(chosen_mask_diagonal_);
    return made;
}

void RunOptions::set_attention(ModelConfig& made) const {
    if (!made.has_attention()) return;
    AttentionConfig& own = made.attention() = attention_config();
    if (own.kind().settle) own.kind().settle(own.kind_options, longest_sequence(made));
}

void RunOptions::choose_attention() {
    if (!model.has_attention()) return;
    const AttentionVariant& variant = variant_named(attention);
    if (!variant.choose || !origin().empty()) return;
    AttentionConfig made = attention_config();
    variant.choose(made, family().task(), [this, &made](std::string_view key) {
        const std::vector<Field> fields = made.fields();
        const auto field = std::ranges::find(fields, key, &Field::key);
        return field != fields.end() && given(field->option_name());
    });
    chosen_mask_diagonal_ = made.mask_diagonal;
    const std::vector<Field> chosen = made.options.fields(), own = variant_options_.at(attention).fields();
    for (std::size_t i = 0; i < own.size(); ++i) assign(own[i], chosen[i]);
}

}  // namespace vkf
