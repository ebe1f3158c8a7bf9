// All options of training a vision model.
#pragma once

#include <optional>
#include <string>

#include "apps/train/run_options.h"
#include "models/files/image_processor.h"
#include "models/train/image_feed.h"

namespace vkf {

struct ImageRunOptions : RunOptions {
    explicit ImageRunOptions(const Family& family);  // starting point of both published recipes

    // data
    std::int64_t image_size = 0;        // 0: the data's
    std::int64_t first_image_size = 0;  // 0: image_size in all epochs
    std::int64_t image_size_step = 32;
    std::int64_t image_size_epochs = 5;
    std::int64_t resized_from = 0;   // that of --init-from, if it is another one; 0: the positions are as they were
    std::optional<double> crop_pct;  // if not given, that of --init-from's model, else 1
    std::int64_t max_pixels = DEFAULT_MAX_PIXELS;
    bool coarse_labels = false;
    std::int64_t num_labels = 0;                                 // 0: the data's
    std::int64_t images_in_memory = DEFAULT_IMAGE_MEMORY >> 20;  // MiB
    std::string augment = "autoaugment";
    std::string crop_scale = "0.08,1";
    std::string crop_ratio = "0.75,1.3333333333333333";
    std::string auto_augment;               // "": none
    std::string statistics = "sl-cifar10";  // with --init-from "model": the initial model's
    double mix = 0.5;
    double mixup_alpha = 1;
    std::string mix_partner = "drawn";
    double label_smoothing = 0.1;
    double random_erasing = 0;
    std::int64_t passes = 1;
    std::int64_t repeats = 1;
    bool drop_last = false;
    std::int64_t workers = 1;

    // training
    std::int64_t epochs = 100;
    std::int64_t warmup_epochs = 10;
    std::string schedule_kind = "by-step";
    std::int64_t eval_interval = 1;  // epochs

    /// declare() adds all options; declare_images() adds only options on the choice and processing of images.
    void declare(cli::Command& app);
    void declare_images(cli::Command& app);
    /// With --init-from or --resume, takes the options of that model and run. Throws InputError if given options
    /// contradict them.
    void load_origin(const Common& common);
    /// Throws InputError naming the option, its value and the wanted values.
    void check();
    /// Opens images. Throws InputError if there is no path, or naming the fault at the path.
    ImageSet images(const Common& common, const std::string& path) const;
    /// Model that the flags describe, for images of side `side` and `classes` classes.
    ModelConfig fresh_model(std::int64_t side, std::int64_t classes) const;
    /// Preprocessing of images: that of the model or run that training starts from, with the mean and deviation that
    /// --statistics names. Throws InputError if --statistics is model and there is no such model.
    ImageProcessor processor() const;
    ImageBatchOptions batches() const;
    /// Batches of evaluations; labels are smoothed as in training.
    PlainBatchOptions plain_batches() const;
    EpochSchedule epoch_schedule(std::int64_t steps_per_epoch) const;
    /// Sides of training images for this model. Throws InputError naming the option and the value unless the model can
    /// take images of every side.
    SideSchedule side_schedule(const ModelConfig& trained) const;

private:
    std::optional<ImageProcessor> origin_processor_;  // of the model or run that training starts from
};

/// Statistics by name: sl-cifar10, sl-cifar100, kk-cifar10, kk-cifar100 or imagenet. Throws InputError.
const Statistics& statistics_named(const std::string& name);
/// Opens images for a command, and notes files in their folders that are not read. Throws as open_images does.
ImageSet open_noted_images(const Common& common, const std::string& path, const ImageOptions& options);
/// Adds --max-pixels to a command that reads pictures.
cli::Option add_max_pixels_option(cli::Command& app, std::int64_t& pixels);
/// Adds --statistics to a command that reads a model.
cli::Option add_statistics_option(cli::Command& app, std::string& name);

}  // namespace vkf
