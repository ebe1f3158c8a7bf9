#include "models/families/vit.h"

#include <array>
#include <cmath>
#include <span>

#include "base/error.h"
#include "models/attention/self_attention.h"
#include "models/config/activation_words.h"
#include "models/families/accounting.h"
#include "models/families/position_grid.h"
#include "models/layers.h"
#include "ops/convolution/depthwise_conv.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"
#include "ops/rows/reduce.h"

namespace vkf {

namespace {

/// A layer as PyTorch's Linear, initialised as the configuration says.
LinearOptions linear_options(const VitConfig& c, std::int64_t in, std::int64_t out, bool bias = true) {
    LinearOptions options{.bias = bias, .out_in = true};
    const auto fan_in = static_cast<float>(in), fan_out = static_cast<float>(out);
    const Init within = Init::uniform(1.0f / std::sqrt(fan_in));
    switch (c.init) {
        case VitInit::timm:
            options.init = Init::normal(0.02f);
            break;
        case VitInit::uniform:
            options.init = options.bias_init = within;
            break;
        case VitInit::localvit:
            options.bias_init = within;
            [[fallthrough]];
        case VitInit::xavier:
            options.init = Init::normal(std::sqrt(2.0f / (fan_in + fan_out)));
            break;
    }
    return options;
}

/// Initial values of a parameter [1, tokens, C], which timm draws from N(0, timm²).
Init token_init(const VitConfig& c, std::int64_t tokens, float timm) {
    if (c.init == VitInit::timm) return Init::normal(timm);
    if (c.init != VitInit::localvit) return Init::normal(1.0f);
    // PyTorch counts tokens · C inputs and C outputs.
    return Init::normal(std::sqrt(2.0f / static_cast<float>((tokens + 1) * c.hidden_size)));
}

/// Shifts x [B, C, H, W] by `down` pixels down and `right` pixels to the right; fills with zeros.
Tensor shift(Tensor x, std::int64_t down, std::int64_t right) {
    const Shape shape = x.shape();
    const auto along = [&](Tensor y, std::int64_t width, std::int64_t by) {  // shifts rows of `width` by `by` elements
        if (by == 0) return y;
        const std::int64_t gap = std::min(std::abs(by), width);
        const Tensor rows = reshape(y, {y.elements() / width, width});
        const Tensor zeros = fill(y.graph(), {rows.rows(), gap}, 0.0f);
        if (gap == width) return zeros;
        const Tensor rest = slice(rows, 1, by > 0 ? 0 : gap, width - gap);
        return by > 0 ? concat(std::array{zeros, rest}) : concat(std::array{rest, zeros});
    };
    const std::int64_t height = shape[2], width = shape[3];
    return reshape(along(along(x, width, right), height * width, down * width), shape);
}

/// The image and its four shifted copies as channels: [B, 5·C, H, W].
Tensor shifted(const VitConfig& c, Tensor images) {
    const std::int64_t half = c.patch_size / 2;
    const auto all = [&](std::array<std::array<std::int64_t, 2>, 4> moves) {
        std::vector<Tensor> parts{images};
        for (const auto& [down, right] : moves) parts.push_back(shift(images, down, right));
        for (Tensor& part : parts) part = reshape(part, {images.shape()[0], images.elements() / images.shape()[0]});
        return reshape(concat(parts), {images.shape()[0], 5 * c.num_channels, c.image_size, c.image_size});
    };
    if (c.patch_shift == PatchShift::cardinal) return all({{{0, 1}, {0, -1}, {1, 0}, {-1, 0}}});
    return all({{{half, half}, {half, -half}, {-half, half}, {-half, -half}}});
}

/// Patches [B, N, channels·P·P] of images, each flattened channel by channel as a convolution's weight is.
Tensor patches(const VitConfig& c, Tensor images) {
    const std::int64_t batch = images.shape()[0], channels = images.shape()[1], p = c.patch_size;
    const std::int64_t side = c.image_size / p;
    const Tensor blocks = permute(reshape(images, {batch, channels, side, p, side, p}), std::array{0, 2, 4, 1, 3, 5});
    return reshape(blocks, {batch, side * side, channels * p * p});
}

/// Class token and patch tokens with their positions: [B, N + 1, C]. The table of positions has `places` rows, N + 1 or
/// those of another grid.
Tensor embed(const Scope& scope, const VitConfig& c, std::int64_t places, Tensor images) {
    const std::int64_t batch = images.shape()[0], width = c.hidden_size, tokens = c.patches() + 1;
    const Scope embed = scope / "patch_embed";
    const bool shift = c.patch_shift != PatchShift::none;
    Tensor x = patches(c, shift ? shifted(c, images) : images);
    if (shift) x = layer_norm(embed / "norm", x, true, c.layer_norm_eps);
    LinearOptions map = linear_options(c, x.width(), width);
    // This map is a convolution, with PyTorch's default initial values.
    if (c.init == VitInit::timm || c.init == VitInit::localvit)
        map.init = map.bias_init = Init::uniform(1.0f / std::sqrt(static_cast<float>(x.width())));
    map.weight_shape = {width, x.width() / (c.patch_size * c.patch_size), c.patch_size, c.patch_size};
    x = linear(embed / "proj", x, width, map);
    const Tensor cls = scope.parameter("cls_token", {1, 1, width}, token_init(c, 1, 1e-6f));
    const Shape table{1, places, width};
    const Init start = token_init(c, places, 0.02f);
    const Tensor positions = resized_positions(c.frozen_embeddings == FrozenEmbeddings::positions
                                                   ? scope.frozen_parameter("pos_embed", table, start)
                                                   : scope.parameter("pos_embed", table, start),
                                               c.image_size / c.patch_size);
    const Tensor first = broadcast_to(reshape(cls, {1, width}), {batch, width});
    x = concat(std::array{first, reshape(x, {batch, c.patches() * width})});
    return (scope / "pos_drop").drop(add(reshape(x, {batch, tokens, width}), positions));
}

/// Multiplies q by the learned scale of locality self-attention; attention then scales by 1.
Tensor scale_queries(const Scope& scope, const VitConfig& c, Tensor q) {
    const float start = 1.0f / std::sqrt(static_cast<float>(c.head_width()));
    if (c.locality == Locality::per_layer) {
        const Tensor t = scope.parameter("temperature", {1}, Init::constant(std::log(start)));
        return mul(q, activate(t, Activation::exp));
    }
    const Tensor factors = scope.parameter("temperature", {c.num_attention_heads}, Init::constant(start));
    const Shape heads{q.rows(), c.num_attention_heads, c.head_width()};
    return reshape(mul(reshape(q, heads), reshape(factors, {c.num_attention_heads, 1})), q.shape());
}

/// x + attention(norm): [B, T, C].
Tensor attention_block(const Scope& scope, const VitConfig& c, Tensor x, Tensor norm) {
    const std::int64_t inner = c.inner();
    LinearOptions maps = linear_options(c, c.hidden_size, 3 * inner, c.qkv_bias);
    if (c.init == VitInit::localvit) maps.init = linear_options(c, c.hidden_size, inner).init;
    const Tensor qkv = linear(scope / "qkv", norm, 3 * inner, maps);
    const auto part = split(qkv, std::array{inner, inner, inner});
    const bool local = c.locality != Locality::none;
    const Tensor q = local ? scale_queries(scope, c, part[0]) : part[0];
    return self_attention(
        scope, x, {q, part[1], part[2]},
        {.config = c.attention,
         .options = {.heads = c.num_attention_heads, .scale = local ? 1.0f : 0.0f, .mask = {.diagonal = local}},
         .output = "proj",
         .output_map = linear_options(c, inner, c.hidden_size),
         .input = norm,
         .input_map = maps});
}

/// Depthwise convolution of the patches, without bias; the class token becomes 0.
Tensor convolve_patches(const Scope& scope, const VitConfig& c, Tensor x) {
    const std::int64_t kernel = c.depthwise_kernel_size, side = c.image_size / c.patch_size;
    const Tensor weight =
        scope.parameter("weight", {x.width(), 1, kernel, kernel}, Init::uniform(1.0f / static_cast<float>(kernel)));
    return depthwise_conv(x, weight, {}, {.height = side, .width = side, .leading = 1});
}

/// x + mlp(norm): [B, T, C]. With a depthwise convolution the class token of x is unchanged: the convolution makes it
/// 0, and so it stays, because every activation is 0 at 0 and the second map then has no bias.
Tensor mlp_block(const Scope& scope, const VitConfig& c, Tensor x, Tensor norm) {
    const std::int64_t inner = c.intermediate_size;
    const bool convolves = c.depthwise_kernel_size > 0;
    const Scope first = scope / "fc1", second = scope / "fc2";
    const LinearOptions in = linear_options(c, c.hidden_size, inner, !convolves);
    Tensor hidden = activate(linear(first, norm, inner, in), c.hidden_act);
    if (convolves) hidden = activate(convolve_patches(scope / "dwconv", c, hidden), c.hidden_act);
    return add_linear(second, x, first.drop(hidden), linear_options(c, inner, c.hidden_size, !convolves));
}

void check(const VitConfig& c) {
    require(c.image_size % c.patch_size == 0, "image_size ", c.image_size, " is not divisible by patch_size ",
            c.patch_size);
    require(c.patches() <= 1'000'000, "image_size ", c.image_size, " and patch_size ", c.patch_size, " make ",
            c.patches(), " patches, wanted at most 1000000");
    require(c.head_dim > 0 || c.hidden_size % c.num_attention_heads == 0, "hidden_size ", c.hidden_size,
            " is not divisible by num_attention_heads ", c.num_attention_heads, " and there is no head_dim");
    require(c.depthwise_kernel_size == 0 || c.depthwise_kernel_size % 2 == 1, "depthwise_kernel_size is ",
            c.depthwise_kernel_size, ", wanted an odd number, or 0 for none");
    require(c.head_width() > 0 && c.head_width() <= 256, "head_dim is ", c.head_width(), ", wanted 1 to 256");
}

/// `model` is the configuration, `c` that of a model for images of this side.
Tensor logits(const Scope& scope, const VitConfig& model, Tensor images) {
    VitConfig c = model;
    c.image_size = images.shape()[3];
    check(c);
    Tensor x = embed(scope, c, model.patches() + 1, images);
    x = stack(scope / "blocks", c.num_hidden_layers, x, [&](const Scope& block, Tensor y) {
        const auto norm = [&](std::string_view name) { return layer_norm(block / name, y, true, c.layer_norm_eps); };
        y = attention_block(block / "attn", c, y, norm("norm1"));
        return mlp_block(block / "mlp", c, y, norm("norm2"));
    });
    const Tensor first = reshape(slice(x, 1, 0, 1), {images.shape()[0], c.hidden_size});
    const Tensor norm = layer_norm(scope / "norm", first, true, c.layer_norm_eps);
    return linear(scope / "head", norm, c.num_labels, linear_options(c, c.hidden_size, c.num_labels));
}

double matrix_elements(const VitConfig& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    const double per_layer = 4 * number(c.inner()) + 2 * number(c.intermediate_size);
    const double rows = number(c.num_hidden_layers) * per_layer + number(c.num_labels) + number(c.patches());
    return number(c.hidden_size) * rows;
}

/// Sizes of the class token and the patches of an image, whatever the length.
ModelSizes model_sizes(const VitConfig& c, std::int64_t /*length*/) {
    const std::int64_t pixels =
        c.patch_size * c.patch_size * c.num_channels * (c.patch_shift != PatchShift::none ? 5 : 1);
    const double patches = 2 * static_cast<double>(c.patches()) * static_cast<double>(pixels * c.hidden_size);
    const Formula logits = logits_flops(c.num_labels, c.hidden_size);
    std::vector<std::string> notes;
    if (c.depthwise_kernel_size > 0) {
        const std::int64_t taps = c.depthwise_kernel_size * c.depthwise_kernel_size;
        notes.push_back(text("The MLP of a block also has a depthwise convolution: ", taps, "·f parameters, ", 2 * taps,
                             "·f FLOPs for a token, and 2·f more numbers of a token that are kept."));
    }
    return {.blocks = {{.name = "block",
                        .path = "blocks",
                        .blocks = c.num_hidden_layers,
                        .width = c.hidden_size,
                        .heads = c.num_attention_heads,
                        .queries = c.inner(),
                        .keys = c.inner(),
                        .inner = c.intermediate_size,
                        .length = c.patches() + 1}},
            .tables = {{"map of patches of p numbers", "patch_embed", "p", pixels},
                       {"position embeddings", "pos_embed", "s", c.patches() + 1},
                       {"head", "head", "v", c.num_labels}},
            .other_flops = {"2·(s - 1)·p·h + " + logits.symbols, patches + logits.value},
            .item_tokens = c.patches() + 1,
            .notes = std::move(notes)};
}

ModelScale model_scale(const VitConfig& c) {
    return {c.num_hidden_layers, c.num_attention_heads, c.hidden_size};
}

void resize(VitConfig& c, const ModelScale& wanted) {
    c.num_hidden_layers = wanted.layers;
    c.hidden_size = c.hidden_size * wanted.heads / c.num_attention_heads;
    c.intermediate_size = c.intermediate_size * wanted.heads / c.num_attention_heads;
    c.num_attention_heads = wanted.heads;
}

/// Names in Hugging Face's ViTForImageClassification, in which queries, keys and values have separate maps.
std::vector<std::string> hugging_face_names(std::string_view name) {
    using Renamed = std::pair<std::string_view, std::string_view>;
    constexpr Renamed outside[] = {{"cls_token", "vit.embeddings.cls_token"},
                                   {"pos_embed", "vit.embeddings.position_embeddings"},
                                   {"patch_embed.proj.", "vit.embeddings.patch_embeddings.projection."},
                                   {"norm.", "vit.layernorm."},
                                   {"head.", "classifier."}};
    constexpr Renamed inside[] = {{"norm1.", "layernorm_before."},
                                  {"norm2.", "layernorm_after."},
                                  {"attn.qkv.", "attention.attention.query."},
                                  {"attn.qkv.", "attention.attention.key."},
                                  {"attn.qkv.", "attention.attention.value."},
                                  {"attn.proj.", "attention.output.dense."},
                                  {"mlp.fc1.", "intermediate.dense."},
                                  {"mlp.fc2.", "output.dense."}};
    std::vector<std::string> made;
    const auto rename = [&](std::string_view rest, std::span<const Renamed> list, const std::string& before) {
        for (const auto& [ours, theirs] : list)
            if (rest.starts_with(ours)) made.push_back(text(before, theirs, rest.substr(ours.size())));
    };
    constexpr std::string_view blocks = "blocks.";
    if (!name.starts_with(blocks)) {
        rename(name, outside, "");
        return made;
    }
    name.remove_prefix(blocks.size());
    const std::size_t point = name.find('.');
    rename(name.substr(point + 1), inside, text("vit.encoder.layer.", name.substr(0, point + 1)));
    return made;
}

/// Plain configuration from which both published recipes start.
VitConfig plain() {
    VitConfig c;
    c.image_size = 0;
    c.patch_size = 4;
    c.hidden_size = 192;
    c.num_hidden_layers = 9;
    c.intermediate_size = 384;
    c.layer_norm_eps = 1e-5f;
    c.qkv_bias = false;
    c.num_labels = 0;
    c.init = VitInit::xavier;
    return c;
}

constexpr std::pair<const char*, PatchShift> patch_shift_words[] = {
    {"none", PatchShift::none}, {"cardinal", PatchShift::cardinal}, {"diagonal", PatchShift::diagonal}};
constexpr std::pair<const char*, Locality> locality_words[] = {
    {"none", Locality::none}, {"per_layer", Locality::per_layer}, {"per_head", Locality::per_head}};
constexpr std::pair<const char*, FrozenEmbeddings> frozen_words[] = {{"none", FrozenEmbeddings::none},
                                                                     {"positions", FrozenEmbeddings::positions}};
constexpr std::pair<const char*, VitInit> init_words[] = {{"timm", VitInit::timm},
                                                          {"uniform", VitInit::uniform},
                                                          {"xavier", VitInit::xavier},
                                                          {"localvit", VitInit::localvit}};

}  // namespace

std::vector<Field> VitConfig::fields() {
    const std::int64_t even = num_attention_heads > 0 ? hidden_size / num_attention_heads : 0;
    return {
        {.key = "image_size",
         .value = IntRange{&image_size, 1, 65'536},
         .required = true,
         .dimension = Dimension::image_size},
        {.key = "patch_size", .value = IntRange{&patch_size, 1, 65'536}, .help = "side of a patch", .required = true},
        {.key = "num_channels", .value = IntRange{&num_channels, 1, 65'536}, .dimension = Dimension::channels},
        {.key = "hidden_size", .value = IntRange{&hidden_size, 1, 1'000'000}, .help = "width", .required = true},
        {.key = "num_hidden_layers",
         .value = IntRange{&num_hidden_layers, 1, 10'000},
         .help = "blocks",
         .required = true,
         .dimension = Dimension::layers},
        {.key = "num_attention_heads",
         .value = IntRange{&num_attention_heads, 1, 100'000},
         .help = "attention heads",
         .required = true},
        {.key = "head_dim",
         .value = IntRange{&head_dim, 0, 1'000'000, even},
         .help = "width of a head; 0: hidden size / heads"},
        {.key = "intermediate_size",
         .value = IntRange{&intermediate_size, 1, 10'000'000},
         .help = "width inside the MLP",
         .required = true},
        {.key = "hidden_act",
         .value = choice(hidden_act, activation_words),
         .help = "of the MLP: gelu is erf's, gelu_new tanh's"},
        {.key = "layer_norm_eps", .value = Number{&layer_norm_eps, 0, 1}, .help = "of the norms"},
        {.key = "qkv_bias", .value = &qkv_bias, .help = "biases of queries, keys and values"},
        {.key = "num_labels",
         .value = IntRange{&num_labels, 1, 10'000'000},
         .required = true,
         .dimension = Dimension::classes},
        {.key = "shifted_patch_tokenization",
         .value = choice(patch_shift, patch_shift_words),
         .help = "which way patches are shifted"},
        {.key = "locality_self_attention",
         .value = choice(locality, locality_words),
         .help = "learned scales of attention"},
        {.key = "depthwise_kernel_size",
         .value = IntRange{&depthwise_kernel_size, 0, 255},
         .help = "side of a convolution of the patches inside the MLP, as in LocalViT; 0: none"},
        {.key = "frozen_embeddings",
         .value = choice(frozen_embeddings, frozen_words),
         .help = "tables that training does not change"},
        {.key = "init", .value = choice(init, init_words), .help = "how parameters begin", .saved = false},
        {.key = "id2label", .value = ClassNames{&labels, &num_labels}},
        {.key = "attention", .value = &attention},
    };
}

const Family& VitConfig::family() {
    return vit_family();
}

const Family& vit_family() {
    static const Family family{
        .model_type = "vit",
        .command = "vit",
        .title = "vision transformer",
        .architecture = "ViTForImageClassification",
        .recipe = "configs/cifar-tiny.toml",
        .defaults = [] { return ModelConfig(VitConfig()); },
        .fresh = [] { return ModelConfig(plain()); },
        .check = [](const ModelConfig& c) { check(c.as<VitConfig>()); },
        .matrix_elements = [](const ModelConfig& c) { return matrix_elements(c.as<VitConfig>()); },
        .tensors = {.buffers = {"pooler.dense.weight", "pooler.dense.bias"}, .elsewhere = hugging_face_names},
        .graph = ImageGraph{[](const Scope& scope, const ModelConfig& c, Tensor images) {
            return logits(scope, c.as<VitConfig>(), images);
        }},
        .accounting = &accounting_by<VitConfig, model_sizes, model_scale, resize>,
    };
    return family;
}

}  // namespace vkf
