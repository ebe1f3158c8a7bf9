#include "apps/vit_options.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "models/files/config_keys.h"
#include "models/files/vit_config.h"

namespace vkf {

namespace {

/// The value that goes by a name. Throws InputError naming the option, the word and those there are.
template <class T, std::size_t N>
const T& named(const char* option, const std::string& word, const std::pair<const char*, T> (&list)[N]) {
    std::string known;
    for (const auto& [name, value] : list) {
        if (word == name) return value;
        known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw InputError(option, " is '", word, "'; there are: ", known);
}

constexpr std::pair<const char*, VitInit> inits[] = {
    {"timm", VitInit::timm}, {"uniform", VitInit::uniform}, {"xavier", VitInit::xavier}};
constexpr std::pair<const char*, EpochSchedule::Kind> schedules[] = {{"by-step", EpochSchedule::Kind::by_step},
                                                                     {"by-epoch", EpochSchedule::Kind::by_epoch}};
const std::pair<const char*, Statistics> all_statistics[] = {
    {"sl-cifar10", sl_cifar10}, {"sl-cifar100", sl_cifar100}, {"kk-cifar10", kk_cifar10}, {"kk-cifar100", kk_cifar100}};

}  // namespace

const Statistics& statistics_named(const std::string& name) {
    return named("--statistics", name, all_statistics);
}

CLI::Option* add_statistics_option(CLI::App& app, std::string& name) {
    return app
        .add_option("--statistics", name,
                    "Mean and deviation instead of preprocessor_config.json's: sl-cifar10, sl-cifar100, kk-cifar10 or "
                    "kk-cifar100")
        ->type_name("NAME");
}

VitOptions::VitOptions() {
    batch_size = 128;
    schedule.learning_rate = 1e-3;
    schedule.min_lr = 1e-6;
    trainer.optimizer.beta2 = 0.999;
    trainer.optimizer.weight_decay = 0.05;
    trainer.optimizer.grad_clip = 0;
}

void VitOptions::declare_images(CLI::App& app) {
    option(app, "--data", data, "CIFAR's binary files, or a directory with a folder of images per class");
    option(app, "--image-size", image_size, "side that images of folders are brought to; 0: as they are");
    flag(app, "--coarse-labels", coarse_labels, "CIFAR-100's 20 coarse labels");
    option(app, "--augment", augment, "none, crop-flip, randaugment or autoaugment");
    option(app, "--statistics", statistics, "mean and deviation: sl-cifar10, sl-cifar100, kk-cifar10 or kk-cifar100");
    option(app, "--mix", mix, "probability of MixUp or CutMix");
    option(app, "--label-smoothing", label_smoothing, "weight spread over all classes");
}

void VitOptions::declare(CLI::App& app) {
    declare_images(app);
    option(app, "--passes", passes, "times that an epoch shows every image");
    flag(app, "--drop-last", drop_last, "leave out the incomplete batch of an epoch");
    option(app, "--workers", workers, "threads that prepare images");

    option(app, "--patch-size", patch_size, "side of a patch");
    option(app, "--hidden-size", hidden_size, "width");
    option(app, "--num-hidden-layers", num_hidden_layers, "blocks");
    option(app, "--num-attention-heads", num_attention_heads, "attention heads");
    option(app, "--head-dim", head_dim, "width of a head; 0: hidden size / heads");
    option(app, "--intermediate-size", intermediate_size, "width inside the MLP");
    option(app, "--hidden-act", hidden_act, "of the MLP: gelu (erf), gelu_new (tanh), relu or silu");
    option(app, "--layer-norm-eps", layer_norm_eps, "of the norms");
    flag(app, "--qkv-bias,!--no-qkv-bias", qkv_bias, "biases of queries, keys and values");
    option(app, "--shifted-patch-tokenization", patch_shift, "none, cardinal or diagonal");
    option(app, "--locality-self-attention", locality, "none, per_layer or per_head");
    option(app, "--init", init, "how parameters begin: timm, uniform or xavier");
    option(app, "--drop-path", trainer.drop_path, "rate of stochastic depth");
    flag(app, "--drop-path-ramp", trainer.drop_path_ramp, "let it grow from 0 in the first block, as timm does");

    option(app, "--epochs", epochs, "epochs");
    option(app, "--warmup-epochs", warmup_epochs, "epochs of linear warm-up");
    option(app, "--schedule", schedule_kind, "by-step: warm-up and cosine; by-epoch: cosine to 0 in epochs");
    option(app, "--eval-interval", eval_interval, "epochs between evaluations; each writes a checkpoint");
    declare_run(app);
}

void VitOptions::check_images() const {
    option_at_least("--image-size", static_cast<double>(image_size), 0);
    option_at_least("--mix", mix, 0);
    require(mix <= 1, "--mix is ", mix, ", wanted at most 1");
    option_below_one("--label-smoothing", label_smoothing);
    statistics_named(statistics);
    augmentation_named(augment);
}

void VitOptions::check() {
    check_images();
    option_at_least("--passes", static_cast<double>(passes), 1);
    option_at_least("--workers", static_cast<double>(workers), 1);
    require(workers <= 1024, "--workers is ", workers, ", wanted at most 1024");
    option_at_least("--epochs", static_cast<double>(epochs), 0);
    option_at_least("--warmup-epochs", static_cast<double>(warmup_epochs), 0);
    option_at_least("--eval-interval", static_cast<double>(eval_interval), 1);
    option_below_one("--drop-path", static_cast<double>(trainer.drop_path));
    require(schedule_kind == "by-epoch" || warmup_epochs <= epochs, "--warmup-epochs ", warmup_epochs,
            " is more than --epochs ", epochs);
    named("--schedule", schedule_kind, schedules);
    named("--init", init, inits);
    check_run();
}

ImageSet VitOptions::images() const {
    require(!data.empty(), "--data is missing: a directory of images");
    return open_images(data, {.side = static_cast<std::size_t>(image_size), .coarse = coarse_labels});
}

VitConfig VitOptions::fresh_model(std::int64_t side, std::int64_t classes) const {
    VitConfig c;
    c.image_size = side;
    c.num_labels = classes;
    c.patch_size = patch_size;
    c.hidden_size = hidden_size;
    c.num_hidden_layers = num_hidden_layers;
    c.num_attention_heads = num_attention_heads;
    c.head_dim = head_dim;
    c.intermediate_size = intermediate_size;
    c.hidden_act = activation_named(hidden_act);
    c.layer_norm_eps = static_cast<float>(layer_norm_eps);
    c.qkv_bias = qkv_bias;
    c.patch_shift = patch_shift_named(patch_shift);
    c.locality = locality_named(locality);
    c.attention = attention_config(1.0f, 1.0f);
    // Its paper's rule: gamma is 1 where no token attends to itself, and above 1 where tokens do.
    if (attention == "attentionx" && c.attention.gamma == 1.0f)
        c.attention.mask_diagonal = mask_diagonal.value_or(true);
    c.init = named("--init", init, inits);
    return c;
}

ImageBatchOptions VitOptions::batches() const {
    return {.batch = static_cast<std::size_t>(batch_size),
            .passes = static_cast<std::size_t>(passes),
            .drop_last = drop_last,
            .augmentation = augmentation_named(augment),
            .statistics = statistics_named(statistics),
            .mix_probability = mix,
            .label_smoothing = label_smoothing,
            .seed = seed,
            .workers = static_cast<std::size_t>(workers)};
}

EpochSchedule VitOptions::epoch_schedule(std::int64_t steps_per_epoch) const {
    return {.kind = named("--schedule", schedule_kind, schedules),
            .learning_rate = schedule.learning_rate,
            .min_lr = schedule.min_lr,
            .decay_lr = schedule.decay_lr,
            .epochs = epochs,
            .warmup_epochs = warmup_epochs,
            .steps_per_epoch = steps_per_epoch};
}

}  // namespace vkf
