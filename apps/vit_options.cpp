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

template <class T, std::size_t N>
std::vector<std::string> names_of(const std::pair<const char*, T> (&list)[N]) {
    std::vector<std::string> names;
    for (const auto& [name, value] : list) names.emplace_back(name);
    return names;
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
    const std::vector<std::string> known = names_of(all_statistics);
    return app.add_option("--statistics", name, "Mean and deviation instead of preprocessor_config.json's")
        ->check(one_of(known))
        ->type_name(CLI::detail::join(known, "|"));
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
    path(app, "--data", data, "CIFAR's binary files, or a directory with a folder of images per class");
    option(app, "--image-size", image_size, "side that images of folders are brought to; 0: as they are",
           whole(0, 65'536));
    flag(app, "--coarse-labels", coarse_labels, "CIFAR-100's 20 coarse labels");
    choice(app, "--augment", augment, "what becomes of training images",
           {"none", "crop-flip", "randaugment", "autoaugment"});
    choice(app, "--statistics", statistics, "mean and deviation", names_of(all_statistics));
    option(app, "--mix", mix, "probability of MixUp or CutMix", number({.least = 0, .most = 1}));
    option(app, "--label-smoothing", label_smoothing, "weight spread over all classes",
           number({.least = 0, .most = 1, .most_too = false}));
}

void VitOptions::declare(CLI::App& app) {
    declare_images(app);
    option(app, "--passes", passes, "times that an epoch shows every image", whole(1, 1000));
    flag(app, "--drop-last", drop_last, "leave out the incomplete batch of an epoch");
    option(app, "--workers", workers, "threads that prepare images", whole(1, 1024));

    option(app, "--patch-size", patch_size, "side of a patch", whole(1, 65'536));
    option(app, "--hidden-size", hidden_size, "width", whole(1, 1'000'000));
    option(app, "--num-hidden-layers", num_hidden_layers, "blocks", whole(1, 10'000));
    option(app, "--num-attention-heads", num_attention_heads, "attention heads", whole(1, 100'000));
    option(app, "--head-dim", head_dim, "width of a head; 0: hidden size / heads", whole(0, 1'000'000));
    option(app, "--intermediate-size", intermediate_size, "width inside the MLP", whole(1, 10'000'000));
    choice(app, "--hidden-act", hidden_act, "of the MLP: gelu is erf's, gelu_new tanh's", activation_names());
    option(app, "--layer-norm-eps", layer_norm_eps, "of the norms",
           number({.least = 0, .most = 1, .least_too = false}));
    flag(app, "--qkv-bias,!--no-qkv-bias", qkv_bias, "biases of queries, keys and values");
    choice(app, "--shifted-patch-tokenization", patch_shift, "which way patches are shifted",
           {"none", "cardinal", "diagonal"});
    choice(app, "--locality-self-attention", locality, "learned scales of attention",
           {"none", "per_layer", "per_head"});
    choice(app, "--init", init, "how parameters begin", names_of(inits));
    option(app, "--drop-path", trainer.drop_path, "rate of stochastic depth",
           number({.least = 0, .most = 1, .most_too = false}));
    flag(app, "--drop-path-ramp", trainer.drop_path_ramp, "let it grow from 0 in the first block, as timm does");

    option(app, "--epochs", epochs, "epochs", whole(0, 1'000'000));
    option(app, "--warmup-epochs", warmup_epochs, "epochs of linear warm-up", whole(0, 1'000'000));
    choice(app, "--schedule", schedule_kind, "by-step: warm-up and cosine; by-epoch: cosine to 0 in epochs",
           names_of(schedules));
    option(app, "--eval-interval", eval_interval, "epochs between evaluations; each writes a checkpoint",
           whole(1, 1'000'000));
    declare_run(app);
}

void VitOptions::take_origin(const Common& common) {
    if (origin().empty()) return;
    const std::string file = read_origin("vit", common);
    const VitConfig model = read_vit_config(file);
    std::int64_t side = image_size > 0 ? image_size : model.image_size;  // of the data, which 0 leaves open
    adopt("--image-size", side, model.image_size, file);
    adopt("--patch-size", patch_size, model.patch_size, file);
    adopt("--hidden-size", hidden_size, model.hidden_size, file);
    adopt("--num-hidden-layers", num_hidden_layers, model.num_hidden_layers, file);
    adopt("--num-attention-heads", num_attention_heads, model.num_attention_heads, file);
    if (head_dim == 0) head_dim = hidden_size / num_attention_heads;
    adopt("--head-dim", head_dim, model.head_width(), file);
    adopt("--intermediate-size", intermediate_size, model.intermediate_size, file);
    adopt("--hidden-act", hidden_act, std::string(name_of(model.hidden_act)), file);
    if (static_cast<float>(layer_norm_eps) != model.layer_norm_eps)
        adopt("--layer-norm-eps", layer_norm_eps, widened(model.layer_norm_eps), file);
    adopt("--qkv-bias", qkv_bias, model.qkv_bias, file);
    adopt("--shifted-patch-tokenization", patch_shift, std::string(name_of(model.patch_shift)), file);
    adopt("--locality-self-attention", locality, std::string(name_of(model.locality)), file);
    RunOptions::adopt(model.attention, file);
    require_effect("--init", false, "on a model that is there already");
    tell_changes(common);
}

void VitOptions::check() {
    const bool by_step = schedule_kind == "by-step";
    require(!by_step || warmup_epochs <= epochs, "--warmup-epochs ", warmup_epochs, " is more than --epochs ", epochs);
    check_run();
    require_effect("--warmup-epochs", schedule.decay_lr || warmup_epochs == 0, "beside --no-decay-lr");
    for (const char* name : {"--warmup-epochs", "--min-lr"})
        require_effect(name, by_step, "on --schedule by-epoch, wanted --schedule by-step with it");
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
    require(c.patches() <= 1'000'000, "--image-size ", side, " and --patch-size ", patch_size, " make ", c.patches(),
            " patches, wanted at most 1000000");
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
