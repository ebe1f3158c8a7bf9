#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "models/families/vit.h"
#include "models/files/config_json.h"
#include "models/files/image_processor.h"
#include "scratch.h"

namespace vkf::test {
namespace {

/// A file in timm 1.0's format, with more keys of the model and of "pretrained_cfg".
std::string file(const std::string& architecture, const std::string& model = "", const std::string& pretrained = "") {
    return R"({"architecture": ")" + architecture + R"(", "num_classes": 3, "num_features": 192,
        "global_pool": "token", )" +
           model + R"("pretrained_cfg": {"tag": "augreg", "custom_load": false,
        "input_size": [3, 224, 224], "fixed_input_size": true, )" +
           pretrained + R"("num_classes": 3,
        "pool_size": null, "first_conv": "patch_embed.proj", "classifier": "head"}})";
}

TEST(HostTimmConfig, AnArchitectureHasItsSizes) {
    const auto read = [](const std::string& text) { return parse_config_json(text, "config.json").as<VitConfig>(); };
    VitConfig tiny;
    tiny.hidden_size = 192;
    tiny.num_attention_heads = 3;
    tiny.intermediate_size = 768;
    tiny.num_labels = 3;
    EXPECT_EQ(read(file("vit_tiny_patch16_224")), tiny);
    EXPECT_EQ(read(file("deit_tiny_patch16_224")), tiny);
    VitConfig large = tiny;
    large.hidden_size = 1024;
    large.num_hidden_layers = 24;
    large.num_attention_heads = 16;
    large.intermediate_size = 4096;
    large.patch_size = 32;
    large.labels = {"ant", "bee", "cat"};
    EXPECT_EQ(read(file("vit_large_patch32_224", R"("label_names": ["ant", "bee", "cat"], )")), large);
    VitConfig changed = tiny;
    changed.image_size = 32;
    changed.patch_size = 4;
    changed.num_channels = 1;
    changed.hidden_size = 96;
    changed.num_hidden_layers = 5;
    changed.intermediate_size = 192;
    changed.qkv_bias = false;
    EXPECT_EQ(read(file("vit_tiny_patch16_224", R"("model_args": {"img_size": [32, 32], "patch_size": 4,
        "in_chans": 1, "embed_dim": 96, "depth": 5, "mlp_ratio": 2.0, "qkv_bias": false, "drop_rate": 0.1}, )")),
              changed);
    // Earlier versions of timm wrote one object.
    EXPECT_EQ(read(R"({"architecture": "vit_tiny_patch16_224", "num_classes": 3, "input_size": [3, 224, 224]})"), tiny);
}

TEST(HostTimmConfig, PicturesBecomeSquaresAsItSays) {
    const Scratch scratch;
    const auto find = [&](const std::string& pretrained) {
        scratch.file("config.json", file("vit_tiny_patch16_224", "", pretrained));
        return *find_image_processor(scratch.path(), 224);
    };
    const ImageProcessor silent = find("");
    EXPECT_EQ(silent.statistics.mean, (std::array<double, 3>{0.485, 0.456, 0.406}));
    EXPECT_EQ(silent.statistics.deviation, (std::array<double, 3>{0.229, 0.224, 0.225}));
    EXPECT_EQ(silent.fit, (ImageFit{.shorter = 256, .filter = ResizeFilter::bicubic, .even = true}));
    const ImageProcessor said = find(R"("interpolation": "bilinear", "crop_pct": 0.9, "crop_mode": "center",
        "mean": [0.5, 0.25, 0.5], "std": [0.5, 0.5, 0.125], )");
    EXPECT_EQ(said.statistics.mean, (std::array<double, 3>{0.5, 0.25, 0.5}));
    EXPECT_EQ(said.statistics.deviation, (std::array<double, 3>{0.5, 0.5, 0.125}));
    EXPECT_EQ(said.fit, (ImageFit{.shorter = 248, .filter = ResizeFilter::bilinear, .even = true}));
    EXPECT_EQ(find(R"("crop_pct": 1.0, "crop_mode": "squash", )").fit,
              (ImageFit{.stretched = true, .filter = ResizeFilter::bicubic, .even = true}));
    // A Hugging Face file in the same folder has priority.
    scratch.file("preprocessor_config.json", R"({"do_normalize": false})");
    EXPECT_EQ(find("").fit, ImageFit{});
}

TEST(HostTimmConfig, RefusesWhatItCannotDo) {
    for (const char* name :
         {"", "vit", "resnet50", "vit_tiny_patch16_224_miil", "vit_giant_patch14_224", "vit_tiny_16_224",
          "vit_tiny_patch_224", "vit_tiny_patch16_0", "vit_tiny_patch16_99999999999999999999",
          "deit_tiny_distilled_patch16_224", "deit3_small_patch16_224", "vit_base_patch16_"})
        EXPECT_THROW(parse_config_json(file(name), "config.json"), InputError) << name;
    for (const char* model :
         {R"("global_pool": "avg", )", R"("model_args": {"global_pool": ""}, )",
          R"("model_args": {"class_token": false}, )", R"("model_args": {"depth": 0}, )",
          R"("model_args": {"init_values": 1e-5}, )", R"("model_args": {"reg_tokens": 4}, )", R"("model_args": 1, )",
          R"("model_args": {"img_size": [32, 24]}, )", R"("model_args": {"mlp_ratio": 1e30}, )", R"("extra": 1, )",
          R"("model_args": {"embed_dim": 1e9}, )", R"("label_names": "all", )",
          R"("model_args": {"mlp_ratio": "4"}, )"})
        EXPECT_THROW(parse_config_json(file("vit_tiny_patch16_224", model), "config.json"), InputError) << model;
    const Scratch scratch;
    for (const char* pretrained :
         {R"("crop_mode": "border", )", R"("interpolation": "random", )", R"("crop_pct": 0, )", R"("crop_pct": 1e-9, )",
          R"("crop_pct": "0.9", )", R"("mean": [0.5], )", R"("std": [1, 1, 0], )", R"("crop_border_pixels": 3, )"}) {
        scratch.file("config.json", file("vit_tiny_patch16_224", "", pretrained));
        EXPECT_THROW(find_image_processor(scratch.path(), 224), InputError) << pretrained;
    }
}

}  // namespace
}  // namespace vkf::test
