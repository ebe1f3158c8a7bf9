// vkformer data pixels: images as sequences of grey values, for classifiers of sequences.

#include "apps/data/data_pixels.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "apps/inspect/facts.h"
#include "apps/train/image_options.h"
#include "base/error.h"
#include "base/files/file.h"
#include "models/data/sequences/grey_pixels.h"
#include "models/files/held_files.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct PixelsOptions {
    std::string path, out;
    std::int64_t image_size = 0, train = 0, test = 0, max_pixels = DEFAULT_MAX_PIXELS;
    bool overwrite = false;
};

/// A file of the directory and the images that it gets.
struct PixelSplit {
    const char* file;
    const Images& images;
    std::size_t count;
};

/// Writes the first `count` images of a split, one on a line.
void write_pixels(const ImageSet& set, const PixelSplit& split, FileWriter& file, Progress& progress,
                  std::int64_t& done) {
    file.write("Source\tTarget\n");
    Picture picture;
    for (std::size_t i = 0; i < split.count; ++i) {
        stop_if_interrupted();
        split.images.read_square(i, picture);
        file.write(
            text(grey_sequence(picture), '\t', set.class_names[static_cast<std::size_t>(split.images.label(i))], '\n'));
        progress.update(++done);
    }
}

void make_pixels(const Common& common, const PixelsOptions& o) {
    ClaimedDirectory out = claim_directory(o.out, o.overwrite, {o.path});
    catch_interrupts();
    const ImageSet set =
        open_noted_images(common, o.path, {.side = static_cast<std::size_t>(o.image_size), .max_pixels = o.max_pixels});
    for (const std::string& name : set.class_names)
        require(name.find_first_of("\t\n") == std::string::npos, o.path, ": the class ", name,
                " has a tab or a line end in its name");
    const auto most = [](const Images& images, std::int64_t wanted) {
        return wanted > 0 ? std::min(images.size(), static_cast<std::size_t>(wanted)) : images.size();
    };
    const bool has_val = set.test_is_val || !set.split;
    std::vector<PixelSplit> splits{{"train.tsv", set.train, most(set.train, o.train)},
                                   {has_val ? "val.tsv" : "test.tsv", set.test, most(set.test, o.test)}};
    if (set.held_out.size() > 0) splits.push_back({"test.tsv", set.held_out, most(set.held_out, o.test)});
    std::size_t all = 0;
    for (const PixelSplit& split : splits) all += split.count;
    Progress progress(common, "pixels", "images", static_cast<std::int64_t>(all));
    nlohmann::ordered_json facts{{"out", o.out}};
    std::int64_t done = 0;
    out.publish([&](const fs::path& folder) {
        for (const PixelSplit& split : splits)
            if (split.count > 0)
                write_atomically(folder / split.file,
                                 [&](FileWriter& file) { write_pixels(set, split, file, progress, done); });
    });
    progress.clear();
    for (const PixelSplit& split : splits) facts[fs::path(split.file).stem().string()] = split.count;
    facts["tokens_of_an_image"] = set.side * set.side;
    facts["classes"] = set.class_names;
    print_facts(common, facts);
}

}  // namespace

void add_data_pixels(cli::Command& data, Common& common) {
    cli::Command& part =
        data.add_subcommand("pixels", "Images as sequences of grey values with labels, as train.tsv, test.tsv, …");
    auto o = std::make_shared<PixelsOptions>();
    part.add_option("path", o->path, "Directory of images: CIFAR's files, or a folder for each class")
        .required()
        .type_name("DIR");
    part.add_option("--out", o->out, "Directory to write to").required().type_name("DIR");
    const auto count = [&](const char* name, std::int64_t& value, const char* help, std::int64_t most) {
        part.add_option(name, value, help).type_name("N").check(whole(0, most)).capture_default_str();
    };
    count("--image-size", o->image_size, "Side that images of folders are brought to; 0: as they are", 1024);
    count("--train", o->train, "Images for training, the first ones; 0: all", 1'000'000'000);
    count("--test", o->test, "Images of each other split, the first ones; 0: all", 1'000'000'000);
    add_max_pixels_option(part, o->max_pixels);
    part.add_flag("--overwrite", o->overwrite, "Replace the data, model or run that is there");
    part.footer(
        "Examples:\n"
        "  vkformer data pixels data/cifar10 --out pixels\n"
        "  vkformer data pixels data/cifar10 --out few --train 5000 --test 1000\n"
        "\n"
        "A line has the grey values of an image, from the top left, and its class: 1024 values of CIFAR's images. "
        "This\n"
        "is the image task of Long Range Arena, whose grey is 0.2989 R + 0.587 G + 0.114 B.\n");
    part.callback([o, &common] { make_pixels(common, *o); });
    add_common(part, common);
}

}  // namespace vkf
