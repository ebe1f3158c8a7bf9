#include "apps/train/image_options.h"

#include <array>
#include <cmath>
#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/named_values.h"
#include "base/error.h"
#include "models/files/config_json.h"

namespace vkf {

namespace {

constexpr std::pair<const char*, EpochSchedule::Kind> schedules[] = {{"by-step", EpochSchedule::Kind::by_step},
                                                                     {"by-epoch", EpochSchedule::Kind::by_epoch},
                                                                     {"deit", EpochSchedule::Kind::deit}};
constexpr Statistics imagenet = {{.485, .456, .406}, {.229, .224, .225}};  // as torchvision and timm have them
const std::pair<const char*, Statistics> all_statistics[] = {{"sl-cifar10", sl_cifar10},
                                                             {"sl-cifar100", sl_cifar100},
                                                             {"kk-cifar10", kk_cifar10},
                                                             {"kk-cifar100", kk_cifar100},
                                                             {"imagenet", imagenet}};

/// Two numbers with a comma between them; nothing unless both are in the range and the first is not the larger one.
std::optional<std::pair<double, double>> read_bounds(const std::string& word, double least, double most) {
    const std::size_t comma = word.find(',');
    if (comma == std::string::npos) return std::nullopt;
    const auto low = read_number(word.substr(0, comma)), high = read_number(word.substr(comma + 1));
    if (!low || !high || *low < least || *high > most || *low > *high) return std::nullopt;
    return std::pair(*low, *high);
}

cli::Check bounds(double least, double most) {
    return {.complaint = [=](const std::string& word) {
        return read_bounds(word, least, most)
                   ? ""
                   : text("found ", word, ", wanted LOW,HIGH, two numbers from ", least, " to ", most);
    }};
}

cli::Check timm_policy() {
    return {.complaint = [](const std::string& word) -> std::string {
        if (word.empty()) return "";
        try {
            timm_randaugment_named(word);
            return "";
        } catch (const InputError& fault) {
            return fault.what();
        }
    }};
}

constexpr double least_scale = 1e-6, most_ratio = 1000;

}  // namespace

const Statistics& statistics_named(const std::string& name) {
    return named("--statistics", name, all_statistics);
}

ImageSet open_noted_images(const Common& common, const std::string& path, const ImageOptions& options) {
    ImageSet set = open_images(path, options);
    if (!set.passed_over.empty())
        note(common,
             text("data ", path, ": passed over ", passed_over_text(set.passed_over), ", read are PNG, JPEG and WebP"));
    return set;
}

cli::Option add_max_pixels_option(cli::Command& app, std::int64_t& pixels) {
    return app.add_option("--max-pixels", pixels, "Most pixels of a picture's file; larger ones are refused")
        .type_name("N")
        .check(whole(1))
        .capture_default_str();
}

cli::Option add_statistics_option(cli::Command& app, std::string& name) {
    const std::vector<std::string> known = names_of(all_statistics);
    return app.add_option("--statistics", name, "Mean and deviation instead of preprocessor_config.json's")
        .check(one_of(known))
        .type_name(joined(known, "|"));
}

ImageRunOptions::ImageRunOptions(const Family& family) : RunOptions(family) {
    batch_size = 128;
    schedule.learning_rate = 1e-3;
    schedule.min_lr = 1e-6;
    trainer.optimizer.beta2 = 0.999;
    trainer.optimizer.weight_decay = 0.05;
    trainer.optimizer.grad_clip = 0;
}

void ImageRunOptions::declare_images(cli::Command& app) {
    path(app, "--data", data, "CIFAR's binary files, or a directory with a folder of images per class");
    option(app, "--image-size", image_size, "side that images of folders are brought to; 0: as they are",
           whole(0, 65'536));
    option(app, "--crop-pct", crop_pct,
           "timm's: share of a picture's shorter side that is cut out of its middle, but not for resized crops",
           number({.least = 0.1, .most = 1}));
    effective_if([this] { return image_size > 0; }, "without --image-size");
    option(app, "--max-pixels", max_pixels, "most pixels of an image's file; larger ones are refused", whole(1));
    flag(app, "--coarse-labels", coarse_labels, "CIFAR-100's 20 coarse labels");
    option(app, "--num-labels", num_labels, "classes that the data must have; 0: any", whole(0, 10'000'000));
    option(app, "--images-in-memory", images_in_memory,
           "MiB of a folder's images that are decoded once; a folder that has more is decoded batch by batch",
           whole(0, 1 << 30));
    choice(app, "--augment", augment, "what becomes of training images",
           {"none", "crop-flip", "resized-crop-flip", "randaugment", "autoaugment"});
    const auto resized = [this] { return augment == "resized-crop-flip"; };
    const auto not_resized = [this] {
        return text("on --augment ", augment, ", wanted --augment resized-crop-flip with it");
    };
    option(app, "--crop-scale", crop_scale, "bounds of the part of a picture's area that resized-crop-flip cuts out",
           bounds(least_scale, 1));
    keep_if(resized);
    effective_if(resized, not_resized);
    option(app, "--crop-ratio", crop_ratio, "bounds of that part's width by its height",
           bounds(1 / most_ratio, most_ratio));
    keep_if(resized);
    effective_if(resized, not_resized);
    option(app, "--auto-augment", auto_augment,
           "timm's RandAugment after the crop and flip, as in rand-m9-mstd0.5-inc1; '': none", timm_policy());
    const auto operated = [this] {
        return auto_augment.empty() || augment == "crop-flip" || augment == "resized-crop-flip";
    };
    keep_if(operated);
    effective_if(operated, [this] {
        return text("on --augment ", augment, ", wanted --augment resized-crop-flip or crop-flip with it");
    });
    std::vector<std::string> known = names_of(all_statistics);
    known.emplace_back("model");
    choice(app, "--statistics", statistics,
           "mean and deviation; model: those of --init-from's model, which are the default with it", known);
    option(app, "--random-erasing", random_erasing, "probability that noise replaces a box, as timm's RandomErasing",
           number({.least = 0, .most = 1}));
    option(app, "--mix", mix, "probability of MixUp or CutMix", number({.least = 0, .most = 1}));
    const auto mixed = [this] { return mix > 0; };
    option(app, "--mixup-alpha", mixup_alpha, "MixUp's lambda is Beta(X, X); 1: uniform",
           number({.least = 0.1, .most = 4}));
    effective_if(mixed, "on --mix 0");
    choice(app, "--mix-partner", mix_partner,
           "image with which another is mixed: drawn from the batch, or that of the reversed batch, as timm's",
           {"drawn", "reversed"});
    effective_if(mixed, "on --mix 0");
    option(app, "--label-smoothing", label_smoothing, "weight spread over all classes",
           number({.least = 0, .most = 1, .most_too = false}));
}

void ImageRunOptions::declare(cli::Command& app) {
    declare_images(app);
    option(app, "--passes", passes, "times that an epoch shows every image", whole(1, 1000));
    option(app, "--first-image-size", first_image_size,
           "side of training images in the first epochs, which then grows to the model's; 0: always the model's",
           whole(0, 65'536));
    const auto grow = [this] { return first_image_size > 0; };
    const char* const constant = "without --first-image-size";
    option(app, "--image-size-step", image_size_step, "pixels by which the side of training images grows",
           whole(1, 65'536));
    effective_if(grow, constant);
    option(app, "--image-size-epochs", image_size_epochs, "epochs after which the side of training images grows",
           whole(1, 1'000'000));
    effective_if(grow, constant);
    option(app, "--repeats", repeats, "times in a row that an image is shown; an epoch then shows fewer images",
           whole(1, 1000));
    flag(app, "--drop-last", drop_last, "leave out the incomplete batch of an epoch");
    option(app, "--workers", workers, "threads that prepare images", whole(1, 1024));

    declare_model(app);
    option(app, "--drop-path", trainer.drop_path, "rate of stochastic depth",
           number({.least = 0, .most = 1, .most_too = false}));
    flag(app, "--drop-path-ramp", trainer.drop_path_ramp, "let it grow from 0 in the first block, as timm does");

    option(app, "--epochs", epochs, "epochs", whole(0, 1'000'000));
    option(app, "--warmup-epochs", warmup_epochs, "epochs of linear warm-up", whole(0, 1'000'000));
    const auto warms_up = [this] { return schedule_kind == "by-step"; };
    effective_if([this] { return schedule.decay_lr || warmup_epochs == 0; }, "beside --no-decay-lr");
    effective_if(warms_up,
                 [this] { return text("on --schedule ", schedule_kind, ", wanted --schedule by-step with it"); });
    choice(app, "--schedule", schedule_kind,
           "by-step: warm-up and cosine; by-epoch: cosine to 0 in epochs; deit: cosine to --min-lr in epochs",
           names_of(schedules));
    option(app, "--eval-interval", eval_interval, "epochs between evaluations; each writes a checkpoint",
           whole(1, 1'000'000));
    declare_run(app);
    effective_if(
        "--min-lr", [this] { return schedule_kind != "by-epoch"; },
        "on --schedule by-epoch, wanted --schedule by-step or deit with it");
}

void ImageRunOptions::load_origin(const Common& common) {
    if (origin().empty()) return;
    const std::string file = read_origin(common);
    const ModelConfig there = read_config_json(file);
    const std::int64_t its_size = there.size(Dimension::image_size);
    const bool resizes = !resume && image_size > 0 && image_size != its_size;
    std::int64_t side = image_size > 0 ? image_size : its_size;  // side of the data; open if image_size is 0
    if (!resizes) adopt("--image-size", side, its_size, file);
    adopt(there, file);
    origin_processor_ = find_image_processor(origin(), its_size);
    if (resizes) {
        if (origin_processor_) {
            ImageFit& fit = origin_processor_->fit;
            const double scale = static_cast<double>(image_size) / static_cast<double>(its_size);
            fit.shorter = static_cast<int>(std::lround(fit.shorter * scale));
        }
        resized_from = its_size;
    }
    if (!resume && !given("--statistics") && origin_processor_) statistics = "model";
    note_changes(common);
}

void ImageRunOptions::check() {
    require(schedule_kind != "by-step" || warmup_epochs <= epochs, "--warmup-epochs ", warmup_epochs,
            " is more than --epochs ", epochs);
    check_run((epochs + eval_interval - 1) / eval_interval);
}

ImageSet ImageRunOptions::images(const Common& common, const std::string& path) const {
    require(!path.empty(), "--data is missing: a directory of images");
    return open_noted_images(common, path,
                             {.side = static_cast<std::size_t>(image_size),
                              .coarse = coarse_labels,
                              .max_pixels = max_pixels,
                              .fit = processor().fit,
                              .whole = augment == "resized-crop-flip",
                              .memory = images_in_memory << 20});
}

ModelConfig ImageRunOptions::fresh_model(std::int64_t side, std::int64_t classes) const {
    ModelConfig made = model;
    made.set(Dimension::image_size, side);
    made.set(Dimension::classes, classes);
    set_attention(made);
    return made;
}

ImageProcessor ImageRunOptions::processor() const {
    ImageProcessor made = origin_processor_.value_or(ImageProcessor());
    // torchvision's Resize and CenterCrop, as timm calls them
    if (crop_pct && image_size > 0)
        made.fit = {.shorter = static_cast<int>(static_cast<double>(image_size) / *crop_pct), .even = true};
    if (statistics != "model") {
        made.statistics = statistics_named(statistics);
        return made;
    }
    require(!origin().empty(), "--statistics is model, but there is none: wanted --init-from beside it");
    require(origin_processor_.has_value(), "--statistics is model, but ", origin(), " has no ", image_processor_file);
    return made;
}

ImageBatchOptions ImageRunOptions::batches() const {
    const auto scale = read_bounds(crop_scale, least_scale, 1).value();
    const auto ratio = read_bounds(crop_ratio, 1 / most_ratio, most_ratio).value();
    std::optional<TimmRandAugment> operations;
    if (!auto_augment.empty()) operations = timm_randaugment_named(auto_augment);
    return {.batch = static_cast<std::size_t>(batch_size),
            .passes = static_cast<std::size_t>(passes),
            .repeats = static_cast<std::size_t>(repeats),
            .drop_last = drop_last,
            .augmentation = augmentation_named(augment),
            .crop = {scale.first, scale.second, ratio.first, ratio.second},
            .operations = operations,
            .statistics = processor().statistics,
            .noise_erasing = random_erasing,
            .mixing = {.probability = mix, .mixup_alpha = mixup_alpha, .reversed = mix_partner == "reversed"},
            .label_smoothing = label_smoothing,
            .seed = seed,
            .workers = static_cast<std::size_t>(workers)};
}

PlainBatchOptions ImageRunOptions::plain_batches() const {
    return {.batch = static_cast<std::size_t>(batch_size),
            .statistics = processor().statistics,
            .label_smoothing = label_smoothing,
            .workers = static_cast<std::size_t>(workers)};
}

EpochSchedule ImageRunOptions::epoch_schedule(std::int64_t steps_per_epoch) const {
    return {.kind = named("--schedule", schedule_kind, schedules),
            .learning_rate = schedule.learning_rate,
            .min_lr = schedule.min_lr,
            .decay_lr = schedule.decay_lr,
            .epochs = epochs,
            .warmup_epochs = warmup_epochs,
            .steps_per_epoch = steps_per_epoch};
}

SideSchedule ImageRunOptions::side_schedule(const ModelConfig& trained) const {
    const std::int64_t last = trained.size(Dimension::image_size);
    const SideSchedule made{first_image_size > 0 ? first_image_size : last, image_size_step, image_size_epochs, last};
    require(made.first <= last, origin_of("--first-image-size"), " is ", made.first, ", the model's images are ", last,
            " pixels wide: wanted no more");
    for (std::int64_t i = 0; i + 1 < made.count(); ++i) try {
            ModelConfig there = trained;
            there.set(Dimension::image_size, made.side(i));
            validate(there);
        } catch (const InputError& why) {
            throw InputError(origin_of("--first-image-size"), " is ", made.first, ", --image-size-step ", made.step,
                             ": images would be ", made.side(i), " pixels wide, but ", why.what());
        }
    return made;
}

}  // namespace vkf
