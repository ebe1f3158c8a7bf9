// Vision transformer: patches and a class token through pre-norm blocks; with any attention variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/attention/attention_config.h"
#include "models/image_model.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// Shifted patch tokens: four copies of the image, shifted and filled with zeros, are additional channels, and a norm
/// precedes the patches' map. cardinal: by one pixel right, left, down and up; diagonal: by half a patch (rounded down)
/// down right, down left, up right and up left. The copies follow the image in these orders, those of the recipes.
enum class PatchShift : std::uint8_t { none, cardinal, diagonal };

/// Locality self-attention: no token attends to itself, and the scale of q·k is learned. per_layer: exp(t) with one t
/// per layer; per_head: one factor per head. Both scales start at 1/√D.
enum class Locality : std::uint8_t { none, per_layer, per_head };

/// Tables that training does not change.
enum class FrozenEmbeddings : std::uint8_t { none, positions };

/// Initial values of parameters. timm: N(0, 0.02), on which timm's cut at ±2 has no effect, biases 0, the class token
/// N(0, 1e-6), weight and bias of the patches' map uniform, ±1/√in, PyTorch's default for convolutions. uniform:
/// PyTorch's default for linear layers, weights and biases ±1/√in. xavier: N(0, √(2/(in + out))), biases 0. These
/// two draw class token and positions from N(0, 1). localvit: PyTorch's xavier_normal_ for linear layers, those of
/// queries, keys and values each by itself, and for class token and positions, N(0, √(2/(n·C + C))) for n tokens;
/// biases uniform, ±1/√in; the patches' map as timm's. All begin depthwise convolutions with PyTorch's default,
/// uniform, ±1/K.
enum class VitInit : std::uint8_t { timm, uniform, xavier, localvit };

/// Keys of config.json have Hugging Face's names; those from head_dim on are additions of this program. `init` is not
/// saved.
struct VitConfig {
    std::int64_t image_size = 224;
    std::int64_t patch_size = 16;
    std::int64_t num_channels = 3;
    std::int64_t hidden_size = 768;
    std::int64_t num_hidden_layers = 12;
    std::int64_t num_attention_heads = 12;
    std::int64_t intermediate_size = 3072;
    Activation hidden_act = Activation::gelu;
    float layer_norm_eps = 1e-6f;
    bool qkv_bias = true;
    std::int64_t num_labels = 1000;
    std::vector<std::string> labels;  // names of the classes, if they are known
    std::int64_t head_dim = 0;        // 0: hidden_size / num_attention_heads
    PatchShift patch_shift = PatchShift::none;
    Locality locality = Locality::none;
    // K of a depthwise convolution of the patches inside the MLP, as in LocalViT (Li et al. 2021, arXiv 2104.05707); 0:
    // none. The MLP then has no biases, and the class token passes it by.
    std::int64_t depthwise_kernel_size = 0;
    FrozenEmbeddings frozen_embeddings = FrozenEmbeddings::none;
    AttentionConfig attention;
    VitInit init = VitInit::timm;

    std::int64_t head_width() const { return head_dim ? head_dim : hidden_size / num_attention_heads; }
    std::int64_t inner() const { return num_attention_heads * head_width(); }
    std::int64_t patches() const { return (image_size / patch_size) * (image_size / patch_size); }

    bool operator==(const VitConfig&) const = default;

    std::vector<Field> fields();
    static const Family& family();
};

/// Parameters have timm's names and layouts (patch_embed.proj.weight, cls_token, pos_embed, blocks.N.attn.qkv.weight,
/// …), the second map of two-map variants blocks.N.attn.proj_s.weight. Additions are patch_embed.norm, in the order
/// of the map's [channels, P, P], blocks.N.attn.temperature and blocks.N.mlp.dwconv.weight [F, 1, K, K]. For images of
/// another side than the configuration's, another multiple of the patch, the table of positions is resampled
/// (position_grid.h).
const Family& vit_family();

}  // namespace vkf
