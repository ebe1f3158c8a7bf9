#include "models/data/images/cifar.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/data/images/md5.h"
#include "models/data/images/synthetic_images.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

std::uint8_t byte_of(std::size_t image, std::size_t at) {
    return static_cast<std::uint8_t>(image * 31 + at * 7);
}

/// A record whose bytes depend on the image and on their place in it.
std::string record(const std::string& labels, std::size_t image) {
    std::string bytes = labels;
    for (std::size_t at = 0; at < CIFAR_PIXELS; ++at) bytes += static_cast<char>(byte_of(image, at));
    return bytes;
}

/// Writes files of two images, with labels 0, 1, 2, … (coarse labels: 19 minus the label).
void write_set(const Scratch& scratch, const CifarFormat& format) {
    std::size_t image = 0;
    for (const CifarFile& file : format.files) {
        std::string bytes;
        for (int i = 0; i < 2; ++i, ++image) {
            std::string labels(1, static_cast<char>(image % format.classes));
            if (format.label_bytes == 2) labels = static_cast<char>(19 - image) + labels;
            bytes += record(labels, image);
        }
        scratch.file(file.name, bytes);
    }
}

void expect_pixels(const Images& images, std::size_t i, std::size_t image) {
    const auto pixels = images.pixels(i);
    ASSERT_EQ(pixels.size(), CIFAR_PIXELS);
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{1024}, std::size_t{3071}})
        EXPECT_EQ(pixels[at], byte_of(image, at)) << i << ' ' << at;
}

TEST(HostCifar, TenClassesInSixFiles) {
    const Scratch scratch;
    write_set(scratch, CIFAR10);
    const ImageSet opened = open_images(scratch.path());
    EXPECT_EQ(opened.train.size(), 10u);
    EXPECT_EQ(opened.test.size(), 2u);
    EXPECT_EQ(opened.side, 32u);
    EXPECT_EQ(opened.channels, 3u);
    EXPECT_EQ(opened.class_names, std::vector<std::string>(CIFAR10_NAMES.begin(), CIFAR10_NAMES.end()));
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(opened.train.label(i), static_cast<int>(i));
        expect_pixels(opened.train, i, i);
    }
    EXPECT_EQ(opened.test.labels()[1], 1);
    expect_pixels(opened.test, 1, 11);
}

TEST(HostCifar, AMovedSetKeepsItsPixels) {
    const Scratch scratch;
    write_set(scratch, CIFAR10);
    ImageSet set;
    {
        ImageSet opened = open_images(scratch.path());
        set = std::move(opened);
    }
    expect_pixels(set.train, 9, 9);
}

TEST(HostCifar, AHundredClassesFineAndCoarse) {
    const Scratch scratch;
    write_set(scratch, CIFAR100);
    const ImageSet fine = open_images(scratch.path());
    const ImageSet coarse = open_images(scratch.path(), {.coarse = true});
    EXPECT_EQ(fine.classes(), 100u);
    EXPECT_EQ(coarse.classes(), 20u);
    EXPECT_EQ(fine.class_names[99], "99");
    for (const ImageSet* set : {&fine, &coarse}) {
        EXPECT_EQ(set->train.size(), 2u);
        EXPECT_EQ(set->test.size(), 2u);
        expect_pixels(set->train, 1, 1);
        expect_pixels(set->test, 0, 2);
    }
    EXPECT_EQ(fine.test.label(1), 3);
    EXPECT_EQ(coarse.test.label(1), 16);
}

TEST(HostCifar, NamesComeFromTheirFile) {
    const Scratch scratch;
    write_set(scratch, CIFAR10);
    std::string names;
    for (int i = 0; i < 11; ++i) names += text(" class ", i, " \r\n \r\n");
    scratch.file("batches.meta.txt", names);
    const ImageSet set = open_images(scratch.path());
    EXPECT_EQ(set.classes(), 11u);
    EXPECT_EQ(set.class_names[10], "class 10");
}

TEST(HostCifar, BadSetsAreRefused) {
    const std::string good = record(std::string(1, '\3'), 0);
    struct Case {
        const char* file;
        std::string bytes;
        const char* reason;
    };
    const Case cases[] = {
        {"data_batch_2.bin", "", "data_batch_2.bin: is empty"},
        {"data_batch_2.bin", good.substr(1), "data_batch_2.bin: 3072 bytes, wanted whole records of 3073"},
        {"test_batch.bin", good + "x", "test_batch.bin: 3074 bytes, wanted whole records of 3073"},
        {"data_batch_5.bin", good + record("\n", 1), "data_batch_5.bin: image 1 has label 10, wanted 0 to 9"},
        {"data_batch_5.bin", record("\xff", 1), "data_batch_5.bin: image 0 has label 255, wanted 0 to 9"},
        {"batches.meta.txt", " \n\n", "batches.meta.txt: names no classes"},
        {"batches.meta.txt", "a\nb\n", "data_batch_2.bin: image 0 has label 2, wanted 0 to 1"},
    };
    for (const Case& bad : cases) {
        const Scratch scratch;
        write_set(scratch, CIFAR10);
        scratch.file(bad.file, bad.bytes);
        expect_holds(complaint([&] { open_images(scratch.path()); }), (scratch.path() / "").string() + bad.reason);
    }
    const Scratch scratch;
    write_set(scratch, CIFAR100);
    scratch.file("train.bin", record({20, 7}, 0));
    EXPECT_EQ(open_images(scratch.path()).train.label(0), 7);
    expect_holds(complaint([&] { open_images(scratch.path(), {.coarse = true}); }), "has label 20, wanted 0 to 19");
    scratch.file("test.bin", record({0, 100}, 0));
    expect_holds(complaint([&] { open_images(scratch.path()); }), "has label 100, wanted 0 to 99");
}

TEST(HostCifar, AnUnpackedArchiveIsFound) {
    const Scratch scratch;
    for (const CifarFile& file : CIFAR100.files)
        scratch.file(fs::path(CIFAR100.folder) / file.name, record(std::string("\1\5"), 0));
    EXPECT_TRUE(holds_images(scratch.path()));
    EXPECT_EQ(open_images(scratch.path()).test.label(0), 5);
}

TEST(HostCifar, WhatIsMissingIsNamed) {
    const Scratch scratch;
    write_set(scratch, CIFAR10);
    fs::remove(scratch.path() / "data_batch_4.bin");
    const auto open = [&] { open_images(scratch.path()); };
    expect_holds(complaint(open), "data_batch_4.bin: is missing, wanted data_batch_1.bin to test_batch.bin");
    scratch.file("data_batch_4.bin.xz", "packed");
    expect_holds(complaint(open), "data_batch_4.bin: is missing, only its .xz is there");
    expect_holds(complaint([&] { open_images(scratch.path() / "nowhere"); }), "nowhere: does not exist");
    expect_holds(complaint([&] { open_images(scratch.file("f", "x")); }), "f: is not a directory");
    expect_holds(complaint([&] { open_images(scratch.path(), {.coarse = true}); }), "no coarse labels");
    expect_holds(complaint([&] { open_images(scratch.path(), {.side = 64}); }), "have side 32, not 64");
}

TEST(HostCifar, TokensAreNoImages) {
    const Scratch scratch;
    scratch.file("train.bin", "1234");
    scratch.file("val.bin", "12");
    EXPECT_FALSE(holds_images(scratch.path()));
    expect_holds(complaint([&] { open_images(scratch.path()); }), "holds tokens");
    fs::remove(scratch.path() / "val.bin");
    EXPECT_TRUE(holds_images(scratch.path()));
    EXPECT_FALSE(holds_images(scratch.path() / "train.bin"));
    EXPECT_FALSE(holds_images(scratch.path() / "nowhere"));
}

TEST(HostCifar, ChecksumsAreTheOnesOfTheRfc) {
    const Scratch scratch;  // RFC 1321, A.5
    EXPECT_EQ(md5_of(scratch.file("empty", "")), "d41d8cd98f00b204e9800998ecf8427e");
    const char* odd = fs::path::preferred_separator == '/' ? "-b \\ odd\nname" : "-b ödd name";
    EXPECT_EQ(md5_of(scratch.file(odd, "abc")), "900150983cd24fb0d6963f7d28e17f72");
    expect_holds(complaint<Error>([&] { md5_of(scratch.path() / "nowhere"); }), "nowhere");
}

TEST(HostCifar, OnlyOfficialFilesPassVerification) {
    const Scratch scratch;
    const CifarFile file = {"x.bin", true, 2, "900150983cd24fb0d6963f7d28e17f72"};
    const auto verify = [&](const CifarFile& wanted, const std::string& bytes) {
        const fs::path path = scratch.file("x.bin", bytes);
        return complaint([&] { verify_cifar_file(wanted, CIFAR10, path, "shown/x.bin"); });
    };
    const std::string whole(2 * 3073, 'x');
    expect_holds(verify(file, whole.substr(1)), "shown/x.bin: 6145 bytes, wanted CIFAR-10's 6146");
    expect_holds(verify(file, whole), text("wanted CIFAR-10's ", file.md5));
    CifarFile right = file;
    const std::string md5 = md5_of(scratch.file("x.bin", whole));
    right.md5 = md5;
    EXPECT_EQ(verify(right, whole), "");
    right.md5 = "";
    EXPECT_EQ(verify(right, whole), "");
    EXPECT_NE(complaint([&] { verify_cifar_file(right, CIFAR10, "nowhere", "shown"); }), "");
}

TEST(HostCifar, UnequalClassesAreNamed) {
    ImageSet set;
    set.class_names = {"cat", "dog"};
    const std::uint8_t pixel = 0;
    for (const int label : {0, 1, 1, 0}) set.train.add(&pixel, label);
    verify_balance(set, "set");
    set.test.add(&pixel, 1);
    set.test.add(&pixel, 1);
    expect_holds(complaint([&] { verify_balance(set, "set"); }), "set: class 'cat' has 0 test images, wanted 1");
    set.test = Images();
    set.train.add(&pixel, 1);
    expect_holds(complaint([&] { verify_balance(set, "set"); }), "'cat' has 2 training images, wanted 2.5");
}

// --- Drawn images ----------------------------------------------------------------------------------

TEST(HostSyntheticImages, AreAFunctionOfSeedSplitAndNumber) {
    const auto one = synthetic_record(1, "train", 3);
    EXPECT_EQ(one, synthetic_record(1, "train", 3));
    EXPECT_NE(one, synthetic_record(2, "train", 3));
    EXPECT_NE(one, synthetic_record(1, "test", 3));
    EXPECT_NE(one, synthetic_record(1, "train", 4));
    for (std::uint64_t from = 0; from < 50; from += 10) {
        std::vector<int> seen(10);
        for (std::uint64_t i = from; i < from + 10; ++i) ++seen.at(synthetic_record(1, "train", i)[0]);
        EXPECT_EQ(seen, std::vector<int>(10, 1));
    }
}

/// Trains softmax regression by stochastic gradient descent on the first half of standardised features; returns the
/// accuracy on the second half.
double linear_accuracy(const std::vector<std::vector<float>>& features, const std::vector<int>& labels) {
    const std::size_t n = features.size(), half = n / 2, width = features[0].size();
    std::vector<double> weights(10 * (width + 1));
    const auto scores = [&](std::size_t i) {
        std::array<double, 10> s;
        for (std::size_t c = 0; c < 10; ++c)
            s[c] = std::inner_product(features[i].begin(), features[i].end(), &weights[c * (width + 1)],
                                      weights[c * (width + 1) + width]);
        return s;
    };
    for (int epoch = 0; epoch < 12; ++epoch)
        for (std::size_t i = 0; i < half; ++i) {
            auto p = scores(i);
            const double most = *std::ranges::max_element(p);
            double sum = 0;
            for (double& x : p) sum += x = std::exp(x - most);
            const double rate = 0.5 / static_cast<double>(width) / (1 + epoch);
            for (std::size_t c = 0; c < 10; ++c) {
                const double step = rate * ((static_cast<int>(c) == labels[i]) - p[c] / sum);
                double* w = &weights[c * (width + 1)];
                for (std::size_t k = 0; k < width; ++k) w[k] += step * double(features[i][k]);
                w[width] += step;
            }
        }
    std::size_t right = 0;
    for (std::size_t i = half; i < n; ++i) {
        const auto s = scores(i);
        right += std::ranges::max_element(s) - s.begin() == labels[i];
    }
    return static_cast<double>(right) / static_cast<double>(n - half);
}

/// Scales every feature to mean 0 and variance 1.
void standardise(std::vector<std::vector<float>>& features) {
    for (std::size_t k = 0; k < features[0].size(); ++k) {
        double sum = 0, square = 0;
        for (const auto& f : features) sum += double(f[k]), square += double(f[k]) * double(f[k]);
        const double n = static_cast<double>(features.size()), mean = sum / n;
        const double scale = 1 / std::sqrt(std::max(square / n - mean * mean, 1e-12));
        for (auto& f : features) f[k] = static_cast<float>((double(f[k]) - mean) * scale);
    }
}

/// Features from one layer of fixed filters: the change of brightness in each of four directions over one, two and four
/// pixels, summed in each of sixteen cells; log(1 + sum), sorted over the cells.
std::vector<float> edges(const std::vector<float>& grey) {
    constexpr std::array<std::array<int, 2>, 4> directions = {{{1, 0}, {0, 1}, {1, 1}, {1, -1}}};
    std::vector<float> result;
    for (const int far : {1, 2, 4})
        for (const auto& [dx, dy] : directions) {
            std::array<double, 16> cells = {};
            for (int y = 4; y < 28; ++y)
                for (int x = 0; x < 28; ++x) {
                    const auto at = static_cast<std::size_t>(y * 32 + x);
                    const auto there = static_cast<std::size_t>((y + far * dy) * 32 + x + far * dx);
                    cells[static_cast<std::size_t>(y / 8 * 4 + x / 8)] += double(std::abs(grey[at] - grey[there]));
                }
            std::ranges::sort(cells);
            for (const double cell : cells) result.push_back(static_cast<float>(std::log1p(cell)));
        }
    return result;
}

TEST(HostSyntheticImages, ALinearClassifierLearnsLittle) {
    std::vector<std::vector<float>> pixels, filtered;
    std::vector<int> labels;
    for (std::uint64_t i = 0; i < 4000; ++i) {
        const auto record = synthetic_record(5, "train", i);
        labels.push_back(record[0]);
        std::vector<float>& p = pixels.emplace_back(record.begin() + 1, record.end());
        std::vector<float> grey(1024);
        for (std::size_t at = 0; at < 1024; ++at) grey[at] = p[at] + p[at + 1024] + p[at + 2048];
        filtered.push_back(edges(grey));
    }
    standardise(pixels);
    standardise(filtered);
    const double linear = linear_accuracy(pixels, labels), better = linear_accuracy(filtered, labels);
    RecordProperty("linear", std::to_string(linear));
    RecordProperty("filtered", std::to_string(better));
    EXPECT_LT(linear, 0.3);  // chance is 0.1
    EXPECT_GT(better, 0.6);
}

}  // namespace
}  // namespace vkf
