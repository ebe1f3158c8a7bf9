// Everything that the training of a vision model can be told.
#pragma once

#include <optional>
#include <string>

#include "apps/run_options.h"
#include "models/files/image_processor.h"
#include "models/train/image_feed.h"

namespace vkf {

struct ImageRunOptions : RunOptions {
    explicit ImageRunOptions(const Family& family);  // what both published recipes start from

    // data
    std::int64_t image_size = 0;  // 0: the data's
    std::int64_t max_pixels = DEFAULT_MAX_PIXELS;
    bool coarse_labels = false;
    std::string augment = "autoaugment";
    std::string statistics = "sl-cifar10";  // with --init-from "model": those of what it starts from
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
    /// Throws InputError without a path, or naming what is wrong with it.
    ImageSet images(const Common& common, const std::string& path) const;
    /// The model that the flags describe, for images of that side and so many classes.
    ModelConfig fresh_model(std::int64_t side, std::int64_t classes) const;
    /// Preprocessing of images: that of the model or run that training starts from, with the mean and deviation that
    /// --statistics names. Throws InputError if --statistics is model and there is no such model.
    ImageProcessor processor() const;
    ImageBatchOptions batches() const;
    EpochSchedule epoch_schedule(std::int64_t steps_per_epoch) const;

private:
    std::optional<ImageProcessor> origin_processor_;  // of the model or run that training starts from
};

/// sl-cifar10, sl-cifar100, kk-cifar10 or kk-cifar100. Throws InputError.
const Statistics& statistics_named(const std::string& name);
/// Opens images for a command, which notes what lies in their folders and is not read. Throws: as open_images.
ImageSet open_noted_images(const Common& common, const std::string& path, const ImageOptions& options);
/// --max-pixels of a command that reads pictures.
CLI::Option* add_max_pixels_option(CLI::App& app, std::int64_t& pixels);
/// --statistics of a command that reads a model.
CLI::Option* add_statistics_option(CLI::App& app, std::string& name);

}  // namespace vkf
