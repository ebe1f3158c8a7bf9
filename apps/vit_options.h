// Everything `train vit` can be told.
#pragma once

#include <string>

#include "apps/run_options.h"
#include "models/train/image_feed.h"
#include "models/vit.h"

namespace vkf {

struct VitOptions : RunOptions {
    VitOptions();  // the plain ViT that both published recipes start from

    // model
    std::int64_t patch_size = 4;
    std::int64_t hidden_size = 192;
    std::int64_t num_hidden_layers = 9;
    std::int64_t num_attention_heads = 12;
    std::int64_t head_dim = 0;
    std::int64_t intermediate_size = 384;
    std::string hidden_act = "gelu";
    double layer_norm_eps = 1e-5;
    bool qkv_bias = false;
    std::string patch_shift = "none";
    std::string locality = "none";
    std::string init = "xavier";

    // data
    std::int64_t image_size = 0;  // 0: the data's
    bool coarse_labels = false;
    std::string augment = "autoaugment";
    std::string statistics = "sl-cifar10";
    double mix = 0.5;
    double label_smoothing = 0.1;
    std::int64_t passes = 1;
    bool drop_last = false;
    std::int64_t workers = 1;

    // training
    std::int64_t epochs = 100;
    std::int64_t warmup_epochs = 10;
    std::string schedule_kind = "by-step";
    std::int64_t eval_interval = 1;  // epochs

    /// All options; or only those that say which images there are and what becomes of them.
    void declare(CLI::App& app);
    void declare_images(CLI::App& app);
    /// With --init-from or --resume: what the model and the run there are. Throws InputError where that contradicts
    /// what was given.
    void take_origin(const Common& common);
    /// Throw InputError naming the option, its value and what is wanted.
    void check();
    ImageSet images() const;
    /// The model that the flags describe, for images of that side and so many classes.
    VitConfig fresh_model(std::int64_t side, std::int64_t classes) const;
    ImageBatchOptions batches() const;
    EpochSchedule epoch_schedule(std::int64_t steps_per_epoch) const;
};

/// sl-cifar10, sl-cifar100, kk-cifar10 or kk-cifar100. Throws InputError.
const Statistics& statistics_named(const std::string& name);
/// --statistics of a command that reads a model.
CLI::Option* add_statistics_option(CLI::App& app, std::string& name);

}  // namespace vkf
