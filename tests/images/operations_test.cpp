// Compares every operation, and every step of the recipes, with PIL's bytes in tests/golden/images.txt.
#include "models/images/augmentation/operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "models/data/images/image_set.h"
#include "models/images/augmentation/autoaugment.h"
#include "models/images/augmentation/randaugment.h"
#include "models/images/augmentation/resized_crop.h"
#include "models/images/augmentation/timm_randaugment.h"
#include "models/images/normalise.h"
#include "models/images/resize.h"
#include "tests/images/samples.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using test::sample;
using test::sample_count;

constexpr Rgb grey = {128, 128, 128}, green = {10, 200, 90}, cutout_colour = {125, 123, 114};
using Numbers = std::vector<double>;
using Edit = std::function<void(Image&, const Numbers&)>;

Picture as_picture(const Image& image) {
    return {image.width(), image.height(), {image.bytes().begin(), image.bytes().end()}};
}

void become(Image& image, const Picture& picture) {
    image = Image(picture.width, picture.height);
    std::ranges::copy(picture.rgb, image.bytes().begin());
}

void edit_size(Image& image, const Numbers& v) {
    const auto width = static_cast<int>(v[0]), height = static_cast<int>(v[1]);
    const auto filter = static_cast<ResizeFilter>(v[2]);
    become(image, resized(as_picture(image), width, height, filter, {0, 0, width, height}));
}

void edit_fit(Image& image, const Numbers& v) {
    const ImageFit fit{v[3] != 0, static_cast<int>(v[1]), static_cast<ResizeFilter>(v[2]), v[4] != 0};
    become(image, fitted(as_picture(image), static_cast<int>(v[0]), fit, "sample"));
}

/// Part of a size that begins at a number of sixteenths and is `length` sixteenths long, at least one pixel.
std::pair<int, int> sixteenths(int size, double first, double length) {
    const int begin = size * static_cast<int>(first) / 16;
    return {begin, std::max(size * static_cast<int>(first + length) / 16, begin + 1) - begin};
}

void edit_part(Image& image, const Numbers& v) {
    const auto [left, width] = sixteenths(image.width(), v[0], v[2]);
    const auto [top, height] = sixteenths(image.height(), v[1], v[3]);
    become(image, resized_crop(as_picture(image), {left, top, width, height}, static_cast<int>(v[4])));
}

/// Operations, by their names in the golden file.
const std::map<std::string, Edit>& edits() {
    constexpr Resampling nearest = Resampling::nearest, bicubic = Resampling::bicubic;
    static const std::map<std::string, Edit> table = {
        {"image", [](Image&, const Numbers&) {}},
        {"resize", edit_size},
        {"fit", edit_fit},
        {"resized_crop", edit_part},
        {"flip", [](Image& i, const Numbers&) { flip(i); }},
        {"crop",
         [](Image& i, const Numbers& v) {
             crop(i, static_cast<int>(v[0] - v[2]), static_cast<int>(v[1] - v[2]), i.width(), i.height());
         }},
        {"shear_x", [](Image& i, const Numbers& v) { shear_x(i, v[0], nearest); }},
        {"shear_y", [](Image& i, const Numbers& v) { shear_y(i, v[0], nearest); }},
        {"shear_x_bicubic", [](Image& i, const Numbers& v) { shear_x(i, v[0], bicubic, grey); }},
        {"shear_y_bicubic", [](Image& i, const Numbers& v) { shear_y(i, v[0], bicubic, grey); }},
        {"translate_x", [](Image& i, const Numbers& v) { translate_x(i, v[0], nearest); }},
        {"translate_y", [](Image& i, const Numbers& v) { translate_y(i, v[0], nearest); }},
        {"translate_x_grey", [](Image& i, const Numbers& v) { translate_x(i, v[0], nearest, grey); }},
        {"translate_y_colour", [](Image& i, const Numbers& v) { translate_y(i, v[0], nearest, green); }},
        {"translate_x_bicubic", [](Image& i, const Numbers& v) { translate_x(i, v[0], bicubic, grey); }},
        {"translate_y_bicubic", [](Image& i, const Numbers& v) { translate_y(i, v[0], bicubic, grey); }},
        {"rotate", [](Image& i, const Numbers& v) { rotate(i, v[0], nearest); }},
        {"rotate_bicubic", [](Image& i, const Numbers& v) { rotate(i, v[0], bicubic, grey); }},
        {"rotate_grey", [](Image& i, const Numbers& v) { rotate(i, v[0], nearest, grey); }},
        {"posterize", [](Image& i, const Numbers& v) { posterize(i, static_cast<int>(v[0])); }},
        {"solarize", [](Image& i, const Numbers& v) { solarize(i, v[0]); }},
        {"solarize_add", [](Image& i, const Numbers& v) { solarize_add(i, v[0]); }},
        {"brighten_dark", [](Image& i, const Numbers& v) { brighten_dark(i, static_cast<int>(v[0])); }},
        {"invert", [](Image& i, const Numbers&) { invert(i); }},
        {"autocontrast", [](Image& i, const Numbers&) { autocontrast(i); }},
        {"equalize", [](Image& i, const Numbers&) { equalize(i); }},
        {"color", [](Image& i, const Numbers& v) { color(i, v[0]); }},
        {"contrast", [](Image& i, const Numbers& v) { contrast(i, v[0]); }},
        {"brightness", [](Image& i, const Numbers& v) { brightness(i, v[0]); }},
        {"sharpness", [](Image& i, const Numbers& v) { sharpness(i, v[0]); }},
        {"cutout", [](Image& i, const Numbers& v) { cutout(i, v[0], v[1], v[2], cutout_colour); }},
    };
    return table;
}

Operation operation_named(const std::string& name) {
    for (int i = 0; i < operation_count; ++i) {
        if (name_of(static_cast<Operation>(i)) == name) return static_cast<Operation>(i);
    }
    throw Error("no operation is called ", name);
}

/// A line of the file: the words before the checksums, and the checksums.
struct Golden {
    std::string name;
    std::vector<std::string> arguments;
    std::uint32_t all = 0;
    std::string each;
};

std::vector<Golden> golden_lines() {
    std::ifstream file("tests/golden/images.txt");  // ctest runs in the project's folder
    std::vector<Golden> lines;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::vector<std::string> all;
        for (std::string word; words >> word;) all.push_back(word);
        Golden golden;
        golden.name = all.at(0);
        golden.each = all.back();
        golden.all = static_cast<std::uint32_t>(std::stoul(all.at(all.size() - 2), nullptr, 16));
        golden.arguments.assign(all.begin() + 1, all.end() - 2);
        lines.push_back(golden);
    }
    return lines;
}

/// Compares `result` of every sample with a line's checksums, and names the first image that differs.
void expect_golden(const Golden& line, const std::function<std::vector<std::uint8_t>(Image&)>& result) {
    static const std::vector<Image> samples = [] {
        std::vector<Image> made;
        for (int number = 0; number < sample_count; ++number) made.push_back(sample(number));
        return made;
    }();
    ASSERT_EQ(line.each.size(), static_cast<std::size_t>(sample_count));
    std::uint32_t all = 0;
    for (int number = 0; number < sample_count; ++number) {
        Image image = samples[static_cast<std::size_t>(number)];
        const std::uint32_t crc = test::crc32(result(image));
        all = test::crc32(crc, all);
        const char digit = "0123456789abcdef"[crc & 15];
        ASSERT_EQ(digit, line.each[static_cast<std::size_t>(number)]) << "image " << number;
    }
    EXPECT_EQ(all, line.all);
}

std::vector<std::uint8_t> bytes_of(const Image& image) {
    return {image.bytes().begin(), image.bytes().end()};
}

std::string label(const Golden& line) {
    std::string words = line.name;
    for (const std::string& argument : line.arguments) words += " " + argument;
    return words;
}

TEST(HostImages, EveryOperationGivesTheBytesOfPil) {
    std::map<std::string, int> seen;
    for (const Golden& line : golden_lines()) {
        const auto found = edits().find(line.name);
        if (found == edits().end()) continue;
        SCOPED_TRACE(label(line));
        ++seen[line.name];
        Numbers numbers;
        for (const std::string& argument : line.arguments) numbers.push_back(std::stod(argument));
        expect_golden(line, [&](Image& image) {
            found->second(image, numbers);
            return bytes_of(image);
        });
    }
    for (const auto& [name, edit] : edits()) EXPECT_GT(seen[name], 0) << name << " is not in the golden file";
}

TEST(HostImages, TheRecipesStepsGiveTheBytesOfTheirPublishedCode) {
    std::map<std::string, int> seen;
    for (const Golden& line : golden_lines()) {
        if (line.name != "autoaugment" && line.name != "randaugment") continue;
        SCOPED_TRACE(label(line));
        ++seen[line.name];
        const Operation operation = operation_named(line.arguments.at(0));
        const int level = std::stoi(line.arguments.at(1)), sign = std::stoi(line.arguments.at(2));
        const bool policy = line.name == "autoaugment";
        expect_golden(line, [&](Image& image) {
            AugmentOp op{operation, randaugment_amount(operation, 14) * sign, 11.25, 20.5};
            if (policy) op = autoaugment_op(operation, level, sign, image.width(), image.height());
            apply(image, op, policy ? autoaugment_style : randaugment_style);
            return bytes_of(image);
        });
    }
    EXPECT_EQ(seen["autoaugment"], 2 * (14 + 8));  // two levels; eight of 14 operations have two signs
    EXPECT_EQ(seen["randaugment"], 16 + 5);        // five of 16 have two signs
}

TEST(HostImages, TimmsRandAugmentGivesTheBytesOfItsDefinition) {
    const AugmentStyle style = timm_randaugment_style({{.485, .456, .406}, {.229, .224, .225}});
    EXPECT_EQ(style.fill, Rgb(124, 116, 104));
    std::map<std::string, int> seen;
    for (const Golden& line : golden_lines()) {
        if (line.name != "timm") continue;
        SCOPED_TRACE(label(line));
        ++seen[line.arguments.at(0)];
        const Operation operation = operation_named(line.arguments.at(0));
        const double magnitude = std::stod(line.arguments.at(1));
        const int sign = std::stoi(line.arguments.at(2));
        const bool increasing = line.arguments.at(3) == "1";
        expect_golden(line, [&](Image& image) {
            apply(image, timm_randaugment_op(operation, magnitude, increasing, sign, image.width(), image.height()),
                  style);
            return bytes_of(image);
        });
    }
    for (const Operation operation : timm_randaugment_operations)
        EXPECT_GE(seen[std::string(name_of(operation))], 4) << name_of(operation);
    EXPECT_EQ(seen.size(), timm_randaugment_operations.size());
}

TEST(HostImages, ThePolicysPairsGiveTheBytesOfItsPublishedTable) {
    std::size_t lines = 0;
    for (const Golden& line : golden_lines()) {
        if (line.name != "policy") continue;
        SCOPED_TRACE(label(line));
        ++lines;
        const SubPolicy& pair = cifar10_policy()[static_cast<std::size_t>(std::stoi(line.arguments.at(0)))];
        for (std::size_t part = 0; part < 2; ++part) {
            EXPECT_EQ(pair[part].probability, std::stod(line.arguments.at(1 + part)));
        }
        expect_golden(line, [&](Image& image) {
            for (std::size_t part = 0; part < 2; ++part) {
                const int sign = std::stoi(line.arguments.at(3 + part));
                const auto& [operation, probability, level] = pair[part];
                const AugmentOp op = autoaugment_op(operation, level, sign, image.width(), image.height());
                apply(image, op, autoaugment_style);
            }
            return bytes_of(image);
        });
    }
    EXPECT_EQ(lines, 2 * cifar10_policy().size());
}

TEST(HostImages, NormalisationGivesTheFloatsOfTorchvision) {
    const std::map<std::string, Statistics> statistics = {{"kk-cifar10", kk_cifar10},
                                                          {"kk-cifar100", kk_cifar100},
                                                          {"sl-cifar10", sl_cifar10},
                                                          {"sl-cifar100", sl_cifar100}};
    std::size_t seen = 0;
    for (const Golden& line : golden_lines()) {
        if (line.name != "normalise") continue;
        SCOPED_TRACE(label(line));
        ++seen;
        const Normaliser normalise(statistics.at(line.arguments.at(0)));
        expect_golden(line, [&](Image& image) {
            std::vector<float> planes(image.bytes().size());
            normalise(image, planes);
            std::vector<std::uint8_t> bytes;
            for (const float v : planes) {
                const auto bits = std::bit_cast<std::uint32_t>(v);
                for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(bits >> shift));
            }
            return bytes;
        });
    }
    EXPECT_EQ(seen, statistics.size());
}

TEST(HostImages, PlanesGoInAndComeOut) {
    for (int number = 0; number < sample_count; ++number) {
        const Image image = sample(number);
        std::vector<std::uint8_t> planes(image.bytes().size());
        write_planes(image, planes);
        const auto plane = planes.size() / 3;
        EXPECT_EQ(planes[0], image.at(0, 0)[0]);
        EXPECT_EQ(planes[2 * plane - 1], image.at(image.width() - 1, image.height() - 1)[1]);
        if (image.width() != image.height()) continue;
        Images images(static_cast<std::size_t>(image.width()));
        images.add(planes.data(), 0);
        Picture again;
        images.read_square(0, again);
        ASSERT_EQ(again.width, image.width());
        ASSERT_EQ(again.rgb, bytes_of(image)) << number;
    }
}

TEST(HostImages, CropReachesBeyondEverySide) {
    for (const auto& [left, top] : std::vector<std::array<int, 2>>{{-2, -3}, {30, 29}, {-40, 0}, {0, 40}, {5, -32}}) {
        const Image image = sample(0);
        Image cropped = sample(0);
        crop(cropped, left, top, 7, 5, grey);
        ASSERT_EQ(cropped.width(), 7);
        ASSERT_EQ(cropped.height(), 5);
        for (int y = 0; y < 5; ++y) {
            for (int x = 0; x < 7; ++x) {
                const int from_x = left + x, from_y = top + y;
                const bool inside = from_x >= 0 && from_y >= 0 && from_x < 32 && from_y < 32;
                const Rgb wanted = inside ? image.at(from_x, from_y) : grey;
                ASSERT_EQ(cropped.at(x, y), wanted) << left << " " << top;
            }
        }
    }
}

TEST(HostImages, NonsenseIsRefusedInOneLine) {
    Image image = sample(0);
    std::vector<std::uint8_t> planes(5);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect_holds(complaint([&] { Image(0, 4); }), "image: 0 x 4 pixels, wanted sides of 1 to 4096");
    expect_holds(complaint([] { Images(0); }), "images of side 0, wanted 1 to 4096");
    expect_holds(complaint([&] { write_planes(image, planes); }), "room for 5 bytes");
    expect_holds(complaint([&] { posterize(image, -1); }), "posterize to -1 bits, wanted 0 to 8");
    expect_holds(complaint([&] { brighten_dark(image, 256); }), "brightening by 256, wanted 0 to 255");
    expect_holds(complaint([&] { shear_x(image, 5, Resampling::nearest); }), "shear by 5");
    expect_holds(complaint([&] { shear_y(image, nan, Resampling::bicubic); }), "shear by nan");
    expect_holds(complaint([&] { translate_x(image, nan, Resampling::nearest); }), "translation by nan");
    expect_holds(complaint([&] { rotate(image, nan, Resampling::bicubic); }), "rotation by nan");
    expect_holds(complaint([&] { color(image, nan); }), "enhancement by nan");
    expect_holds(complaint([&] { solarize_add(image, nan); }), "adding nan");
    expect_holds(complaint([&] { cutout(image, -1, 0, 3, grey); }), "cutout of side 3 at (-1, 0)");
    expect_holds(complaint([&] { crop(image, 5000, 0, 32, 32); }), "crop at (5000, 0)");
    expect_holds(complaint([&] { autoaugment_op(Operation::rotate, 10, 1, 32, 32); }), "level 10, wanted 0 to 9");
    expect_holds(complaint([&] { autoaugment_op(Operation::cutout, 1, 1, 32, 32); }), "cutout is no operation");
    expect_holds(complaint([&] { randaugment_amount(Operation::rotate, 31); }), "magnitude 31, wanted 0 to 30");
    expect_holds(complaint([&] { timm_randaugment_op(Operation::rotate, 10.5, true, 1, 32, 32); }), "magnitude 10.5");
    expect_holds(complaint([&] { timm_randaugment_op(Operation::cutout, 9, true, 1, 32, 32); }), "cutout is no operat");
}

}  // namespace
}  // namespace vkf
