// vkformer data cifar10, cifar100, synthetic-images: image sets, official or drawn.
#include "apps/data/data_images.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/data/cifar_source.h"
#include "apps/train/image_options.h"
#include "base/files/file.h"
#include "models/data/data_paths.h"
#include "models/data/images/synthetic_images.h"
#include "models/files/held_files.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct ImageDataOptions {
    std::string out;
    std::int64_t count = 50'000;
    std::int64_t test_count = 10'000;
    bool overwrite = false;
};

nlohmann::ordered_json facts_of(const ImageSet& images) {
    const std::size_t classes = images.classes();
    return {{"train_images", images.train.size()},
            {"test_images", images.test.size()},
            {"channels", images.channels},
            {"side", images.side},
            {"classes", classes},
            {"class_names", images.class_names},
            {"train_per_class", images.train.per_class(classes)},
            {"test_per_class", images.test.per_class(classes)}};
}

/// Prints a paragraph for people, or one document.
void report(const Common& common, const std::string& title, const std::string& verdict, const std::string& source,
            const std::string& out, const ImageSet& images) {
    if (common.json) {
        nlohmann::ordered_json document = {{"out", out}, {"source", source}};
        document.update(facts_of(images));
        return print_json(document);
    }
    const std::size_t classes = images.classes();
    const auto [least, most] = std::ranges::minmax(images.train.per_class(classes));
    std::string names;
    if (classes <= 20)
        for (const std::string& name : images.class_names) names += (names.empty() ? " (" : ", ") + name;
    print(text(title, " in ", out, source == out ? "" : ", from " + source, ": ", images.train.size(), " training and ",
               images.test.size(), " test images of ", images.channels, 'x', images.side, 'x', images.side, " in ",
               classes, " classes, ", least, least == most ? "" : " to " + std::to_string(most),
               " training images each", names, names.empty() ? "" : ")", verdict.empty() ? "" : "; " + verdict, ".\n"));
}

void prepare_cifar(const Common& common, const CifarFormat& format, const std::string& out, bool overwrite) {
    const std::string source = fetch_cifar(common, format, out, overwrite);
    const bool checksums = !format.files.front().md5.empty() || source.ends_with(format.archive);
    report(common, std::string(format.title),
           checksums ? "checksums and class balance are the official ones"
                     : "sizes and class balance are the official ones, checksums are known of the archive only",
           source, out, open_cifar(format, out));
}

/// Writes `count` drawn images into the files of one split, as evenly as possible.
void draw_split(const Common& common, const fs::path& folder, bool training, std::int64_t count, Progress& progress,
                std::int64_t& done) {
    const auto files = std::ranges::count(CIFAR10.files, training, &CifarFile::training);
    std::int64_t file_number = 0, drawn = 0;
    for (const CifarFile& file : CIFAR10.files) {
        if (file.training != training) continue;
        const std::int64_t end = count * ++file_number / files;
        write_atomically(folder / file.name, [&](FileWriter& writer) {
            for (; drawn < end; ++drawn) {
                stop_if_interrupted();
                const auto record =
                    synthetic_record(common.seed, training ? "train" : "test", static_cast<std::uint64_t>(drawn));
                writer.write(std::as_bytes(std::span(record)));
                progress.update(++done);
            }
        });
    }
}

void make_synthetic(const Common& common, const ImageDataOptions& o) {
    ClaimedDirectory out = claim_directory(o.out, o.overwrite);
    catch_interrupts();
    Progress progress(common, "drawing", "images", o.count + o.test_count);
    std::int64_t done = 0;
    const auto fill = [&](const fs::path& folder) {
        draw_split(common, folder, true, o.count, progress, done);
        draw_split(common, folder, false, o.test_count, progress, done);
        std::string names;
        for (const std::string_view name : SYNTHETIC_NAMES) names += text(name, '\n');
        write_atomically(folder / CIFAR10.names, names);
    };
    out.publish(fill);
    report(common, "Synthetic images", "", text("seed ", common.seed), o.out, open_cifar(CIFAR10, o.out));
}

void add_overwrite(cli::Command& part, ImageDataOptions& o) {
    part.add_flag("--overwrite", o.overwrite, "Replace the data, model or run that is there");
}

}  // namespace

nlohmann::ordered_json image_facts(const Common& common, const std::string& directory, std::int64_t max_pixels) {
    const ImageSet images = open_noted_images(common, directory, {.max_pixels = max_pixels});
    nlohmann::ordered_json facts = {{"path", directory}};
    facts.update(facts_of(images));
    facts["passed_over"] = images.passed_over;
    return facts;
}

void add_data_images(cli::Command& data, Common& common) {
    const auto add = [&](std::string_view name, const std::string& about, std::string_view examples) -> cli::Command& {
        cli::Command& part = data.add_subcommand(std::string(name), about);
        part.footer(text("Examples:\n", examples));
        return part;
    };
    for (const CifarFormat* format : {&CIFAR10, &CIFAR100}) {
        const std::string name(format->name);
        cli::Command& part =
            add(name, text(format->title, ", from this machine or its official address, verified"),
                text("  vkformer data ", name, "\n  VKFORMER_DATA=/where/the/archive/is vkformer data ", name,
                     " --out data/", name, "\n\nTakes ", format->archive, " or its files, plain or as .xz, from\n",
                     DATA_FOLDERS, ";\nelse downloads the archive, going on where an earlier download ended.\n"));
        auto o = std::make_shared<ImageDataOptions>();
        o->out = "data/" + name;
        part.add_option("--out", o->out, "Directory to write to").type_name("DIR").capture_default_str();
        add_overwrite(part, *o);
        part.callback([format, o, &common] { prepare_cifar(common, *format, o->out, o->overwrite); });
        add_common(part, common);
    }
    auto o = std::make_shared<ImageDataOptions>();
    cli::Command& part = add("synthetic-images", "Ten classes of drawn shapes and patterns in CIFAR-10's layout",
                             "  vkformer data synthetic-images --out data/shapes\n"
                             "  vkformer data synthetic-images --out data/few --count 500 --test-count 100 --seed 7\n");
    part.add_option("--out", o->out, "Directory to write to").required().type_name("DIR");
    add_overwrite(part, *o);
    part.add_option("--count", o->count, "Training images").type_name("N").check(whole(10)).capture_default_str();
    part.add_option("--test-count", o->test_count, "Test images").type_name("N").check(whole(10)).capture_default_str();
    part.callback([o, &common] { make_synthetic(common, *o); });
    add_common(part, common);
}

}  // namespace vkf
