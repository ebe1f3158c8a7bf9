#include "models/files/image_processor.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "scratch.h"

namespace vkf::test {
namespace {

TEST(HostImageProcessor, SurvivesItsFile) {
    Scratch scratch;
    for (const Statistics& wanted : {sl_cifar10, kk_cifar100}) {
        const Statistics read =
            read_image_processor(scratch.file("preprocessor_config.json", image_processor_text(wanted, 32)));
        EXPECT_EQ(read.mean, wanted.mean);
        EXPECT_EQ(read.deviation, wanted.deviation);
    }
}

TEST(HostImageProcessor, ReadsWhatOthersWrite) {
    Scratch scratch;
    const Statistics plain = read_image_processor(scratch.file("p.json", R"({"do_normalize": false})"));
    EXPECT_EQ(plain.mean, (std::array<double, 3>{0, 0, 0}));
    EXPECT_EQ(plain.deviation, (std::array<double, 3>{1, 1, 1}));
    const Statistics half = read_image_processor(scratch.file(
        "p.json", R"({"size": 224, "resample": 2, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})"));
    EXPECT_EQ(half.mean, (std::array<double, 3>{0.5, 0.5, 0.5}));
}

TEST(HostImageProcessor, RefusesWhatItCannotDo) {
    Scratch scratch;
    for (const char* text :
         {"", "[]", "{}", R"({"image_mean": [0, 0, 0]})", R"({"image_mean": [0, 0], "image_std": [1, 1, 1]})",
          R"({"image_mean": [0, 0, 0], "image_std": [1, 0, 1]})", R"({"image_mean": "grey", "image_std": [1, 1, 1]})",
          R"({"image_mean": [0, 0, null], "image_std": [1, 1, 1]})",
          R"({"image_mean": [0, 0, 0], "image_std": [1, 1, 1], "rescale_factor": 1})",
          R"({"image_mean": [0, 0, 0], "image_std": [1, 1, 1], "do_rescale": false})"})
        EXPECT_THROW(read_image_processor(scratch.file("p.json", text)), InputError) << text;
}

}  // namespace
}  // namespace vkf::test
