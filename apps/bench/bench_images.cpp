// vkformer bench images: speed of the input pipeline that prepares images for training.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/bench/bench.h"
#include "apps/cli/command.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/train/image_options.h"
#include "base/os/os.h"
#include "models/data/images/synthetic_images.h"
#include "models/train/image_feed.h"

namespace vkf {

namespace {

constexpr std::size_t SLICES = 10;            // per measurement; median, least and most are taken over slices
constexpr std::size_t DRAWN_IMAGES = 10'000;  // 30 MB: more than the processor's inner caches hold

struct BenchImagesOptions {
    std::string data;
    std::int64_t max_pixels = DEFAULT_MAX_PIXELS;
    std::int64_t batch_size = 128;
    std::int64_t workers = std::max(1u, std::thread::hardware_concurrency());
    double seconds = 2;
};

struct Policy {
    const char* name;
    Augmentation augmentation;
    double mix_probability;
    std::optional<TimmRandAugment> operations = {};
};

/// The policies of AutoAugment are the published small-data recipe without and with its mixing of whole batches; the
/// last is that of ImageNet.
const std::array POLICIES = {
    Policy{"none", Augmentation::none, 0},
    Policy{"crop-flip", Augmentation::crop_flip, 0},
    Policy{"randaugment", Augmentation::randaugment, 0},
    Policy{"autoaugment", Augmentation::autoaugment, 0},
    Policy{"autoaugment+mix", Augmentation::autoaugment, 0.5},
    Policy{"resized-crop-flip", Augmentation::resized_crop_flip, 0},
    Policy{"resized-crop-flip+rand+mix", Augmentation::resized_crop_flip, 1,
           timm_randaugment_named("rand-m9-mstd0.5-inc1")},
};

/// Images per second. `per_core` is per second of processor time of all threads, which other programs' load does not
/// change; the other rates are per second of the clock.
struct Rates {
    double median, least, most, per_core;
};

/// Takes batches as fast as they come, for `seconds`.
Rates measure(const ImageSet& set, const ImageBatchOptions& options, double seconds) {
    using Clock = std::chrono::steady_clock;
    ImageBatches batches(set, set.train, options);
    std::uint64_t number = 0;
    batches.at(number++);  // starts threads and allocates memory
    const double busy_from = os::processor_seconds();
    std::vector<double> slices;  // seconds per image
    while (slices.size() < SLICES) {
        const std::uint64_t first = number;
        const auto start = Clock::now();
        std::chrono::duration<double> elapsed{};
        do {
            stop_if_interrupted();
            batches.at(number++);
            elapsed = Clock::now() - start;
        } while (elapsed.count() < seconds / SLICES);
        slices.push_back(elapsed.count() / static_cast<double>((number - first) * options.batch));
    }
    const double per_core =
        static_cast<double>((number - 1) * options.batch) / std::max(os::processor_seconds() - busy_from, 1e-9);
    const Timing image = timing_of(std::move(slices));
    return {1 / image.median, 1 / image.most, 1 / image.least, per_core};
}

std::string whole_text(double value) {
    return std::to_string(std::llround(value));
}

void bench_images(const Common& common, const BenchImagesOptions& o) {
    require(o.workers <= 1024, "--workers is ", o.workers, ", wanted at most 1024");
    catch_interrupts();
    const ImageSet set = o.data.empty() ? synthetic_images(common.seed, DRAWN_IMAGES)
                                        : open_noted_images(common, o.data, {.max_pixels = o.max_pixels});
    std::vector<std::int64_t> workers{1};
    if (o.workers > 1) workers.push_back(o.workers);

    std::vector<std::vector<std::string>> rows{{"policy", "workers", "images/s", "least", "most", "per core"}};
    nlohmann::ordered_json measurements = nlohmann::ordered_json::array();
    Progress progress(common, "bench images", "measurements",
                      static_cast<std::int64_t>(POLICIES.size() * workers.size()));
    for (const Policy& policy : POLICIES)
        for (const std::int64_t threads : workers) {
            const Rates r = measure(set,
                                    {.batch = static_cast<std::size_t>(o.batch_size),
                                     .drop_last = true,
                                     .augmentation = policy.augmentation,
                                     .operations = policy.operations,
                                     .mixing = {.probability = policy.mix_probability},
                                     .label_smoothing = 0.1,
                                     .seed = common.seed,
                                     .workers = static_cast<std::size_t>(threads)},
                                    o.seconds);
            rows.push_back({policy.name, std::to_string(threads), whole_text(r.median), whole_text(r.least),
                            whole_text(r.most), whole_text(r.per_core)});
            measurements.push_back({{"policy", policy.name},
                                    {"workers", threads},
                                    {"images_per_s", r.median},
                                    {"images_per_s_least", r.least},
                                    {"images_per_s_most", r.most},
                                    {"images_per_s_per_core", r.per_core}});
            progress.update(static_cast<std::int64_t>(measurements.size()));
        }
    if (!common.json) return print(table(rows));
    print_json({{"data", o.data.empty() ? "synthetic" : o.data},
                {"images", set.train.size()},
                {"side", set.side},
                {"batch_size", o.batch_size},
                {"seconds", o.seconds},
                {"measurements", measurements}});
}

}  // namespace

void add_bench_images(cli::Command& bench, Common& common) {
    auto o = std::make_shared<BenchImagesOptions>();
    cli::Command& images = bench.add_subcommand("images", "Images per second that the input pipeline prepares");
    add_common(images, common);
    images.add_option("--data", o->data, "Directory of images; else drawn ones").type_name("DIR");
    add_max_pixels_option(images, o->max_pixels);
    images.add_option("--batch-size", o->batch_size, "Images in a batch")
        .type_name("N")
        .check(whole(1))
        .capture_default_str();
    images.add_option("--workers", o->workers, "Threads, measured beside one; default: as many as processors")
        .type_name("N")
        .check(whole(1));
    images.add_option("--seconds", o->seconds, "Length of each measurement")
        .type_name("S")
        .check(at_least(0.001))
        .capture_default_str();
    images.footer(
        "Examples:\n"
        "  vkformer bench images\n"
        "  vkformer bench images --data data/cifar10 --workers 8 --json\n"
        "\n"
        "Per core: images by seconds of processor time, whatever else the machine is doing.");
    images.callback([o, &common] { bench_images(common, *o); });
}

}  // namespace vkf
