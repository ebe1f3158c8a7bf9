#include "models/files/image_processor.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "scratch.h"

namespace vkf::test {
namespace {

TEST(HostImageProcessor, SurvivesItsFile) {
    Scratch scratch;
    for (const Statistics& statistics : {sl_cifar10, kk_cifar100})
        for (const ImageFit& fit : {ImageFit{}, ImageFit{.stretched = true, .filter = ResizeFilter::bilinear},
                                    ImageFit{.shorter = 40, .filter = ResizeFilter::lanczos},
                                    ImageFit{.stretched = true, .shorter = 36, .filter = ResizeFilter::bicubic},
                                    ImageFit{.shorter = 37, .filter = ResizeFilter::bicubic, .even = true}}) {
            const auto [read, its_fit] = read_image_processor(
                scratch.file("preprocessor_config.json", image_processor_text({statistics, fit}, 32)), 32);
            EXPECT_EQ(read.mean, statistics.mean);
            EXPECT_EQ(read.deviation, statistics.deviation);
            EXPECT_EQ(its_fit, fit);
        }
}

TEST(HostImageProcessor, ReadsWhatOthersWrite) {
    Scratch scratch;
    const auto read = [&](const std::string& text, std::int64_t side) {
        return read_image_processor(scratch.file("p.json", "{" + text + R"("image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5]})"),
                                    side);
    };
    const Statistics plain = read_image_processor(scratch.file("p.json", R"({"do_normalize": false})"), 32).statistics;
    EXPECT_EQ(plain.mean, (std::array<double, 3>{0, 0, 0}));
    EXPECT_EQ(plain.deviation, (std::array<double, 3>{1, 1, 1}));
    const auto [half, number] = read(R"("size": 224, "resample": 2, )", 224);
    EXPECT_EQ(half.mean, (std::array<double, 3>{0.5, 0.5, 0.5}));
    const ImageFit stretched{.stretched = true, .filter = ResizeFilter::bilinear};
    EXPECT_EQ(number, stretched);
    EXPECT_EQ(read(R"("size": {"height": 32, "width": 32}, "do_resize": true, )", 32).fit, stretched);
    EXPECT_EQ(read(R"("size": {"shortest_edge": 256}, "do_center_crop": true, "crop_size": {"height": 224,
                   "width": 224}, "resample": 3, )",
                   224)
                  .fit,
              (ImageFit{.shorter = 256, .filter = ResizeFilter::bicubic}));
    EXPECT_EQ(read(R"("size": {"shortest_edge": 224}, "crop_pct": 0.875, "resample": 3, )", 224).fit,
              (ImageFit{.shorter = 256, .filter = ResizeFilter::bicubic}));
    EXPECT_EQ(read(R"("size": {"shortest_edge": 384}, "crop_pct": 0.875, "resample": 3, )", 384).fit,
              (ImageFit{.stretched = true, .filter = ResizeFilter::bicubic}));
    EXPECT_EQ(read("", 32).fit, ImageFit{});
    // 280 = 224 / 0.8, which would be 279 in single precision.
    EXPECT_EQ(read(R"("size": {"shortest_edge": 224}, "crop_pct": 0.8, "resample": 3, )", 224).fit.shorter, 280);
    // The same number has two meanings in files of two processors.
    const std::string cut = R"("size": 256, "do_center_crop": true, "crop_size": 224, "resample": 3, )";
    EXPECT_EQ(read(R"("feature_extractor_type": "DeiTFeatureExtractor", )" + cut, 224).fit,
              (ImageFit{.stretched = true, .shorter = 256, .filter = ResizeFilter::bicubic}));
    EXPECT_EQ(read(R"("feature_extractor_type": "CLIPFeatureExtractor", )" + cut, 224).fit,
              (ImageFit{.shorter = 256, .filter = ResizeFilter::bicubic}));
}

TEST(HostImageProcessor, RefusesWhatItCannotDo) {
    Scratch scratch;
    const std::string statistics = R"("image_mean": [0, 0, 0], "image_std": [1, 1, 1], )";
    for (const char* fit :
         {R"("size": 33)", R"("size": {"height": 32, "width": 24})", R"("size": 32, "do_resize": false)",
          R"("size": 32, "resample": 6)", R"("size": {"shortest_edge": 32})", R"("size": {"longest_edge": 32})",
          R"("size": {"shortest_edge": 24}, "do_center_crop": true, "crop_size": 32)", R"("size": "large")",
          R"("size": {"shortest_edge": 32}, "crop_pct": 0)", R"("size": 24, "do_center_crop": true, "crop_size": 32)",
          R"("size": 32, "crop_rounding": "up")"})
        EXPECT_THROW(read_image_processor(scratch.file("p.json", "{" + statistics + fit + "}"), 32), InputError) << fit;
    for (const char* text :
         {"", "[]", "{}", R"({"image_mean": [0, 0, 0]})", R"({"image_mean": [0, 0], "image_std": [1, 1, 1]})",
          R"({"image_mean": [0, 0, 0], "image_std": [1, 0, 1]})", R"({"image_mean": "grey", "image_std": [1, 1, 1]})",
          R"({"image_mean": [0, 0, null], "image_std": [1, 1, 1]})",
          R"({"image_mean": [0, 0, 0], "image_std": [1, 1, 1], "rescale_factor": 1})",
          R"({"image_mean": [0, 0, 0], "image_std": [1, 1, 1], "do_rescale": false})"})
        EXPECT_THROW(read_image_processor(scratch.file("p.json", text), 32), InputError) << text;
}

}  // namespace
}  // namespace vkf::test
