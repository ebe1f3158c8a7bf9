// Numbers of the recipes of vision transformers, for recipes_test.cpp.
#pragma once

#include "recipe_rows.h"

namespace vkf::test {

/// Defaults of `train vit`: the plain ViT that the recipes below have in common, from no particular recipe.
inline const Rows plain_vit{
    {"image-size", "32", "of inspect; train takes the data's"},
    {"max-pixels", "89478485", "PIL's MAX_IMAGE_PIXELS"},
    {"coarse-labels", "false", "ours"},
    {"num-labels", "0", "ours"},
    {"workers", "1", "ours"},
    {"patch-size", "4", "patch_size"},
    {"hidden-size", "192", "dim"},
    {"num-hidden-layers", "9", "depth"},
    {"num-attention-heads", "12", "heads"},
    {"head-dim", "0", "dim / heads"},
    {"intermediate-size", "384", "mlp_dim_ratio 2"},
    {"hidden-act", "gelu", "nn.GELU()"},
    {"layer-norm-eps", "1e-5", "nn.LayerNorm"},
    {"qkv-bias", "false", "to_qkv bias=False"},
    {"shifted-patch-tokenization", "none", "is_SPT off"},
    {"locality-self-attention", "none", "is_LSA off"},
    {"depthwise-kernel-size", "0", "nn.Linear alone"},
    {"init", "xavier", "xavier_normal_"},
    {"drop-path", "0", "ours"},
    {"drop-path-ramp", "false", "ours; SL's rate is the same in every block"},
    {"dropout", "0", "dropout"},
    {"augment", "autoaugment", "CIFAR10Policy"},
    {"statistics", "sl-cifar10", "cifar_mean, cifar_std"},
    {"random-erasing", "0", "ours; CIFAR10Policy erases by itself"},
    {"mix", "0.5", "mix_prob"},
    {"label-smoothing", "0.1", "LabelSmoothingCrossEntropy"},
    {"passes", "1", "ours"},
    {"repeats", "1", "ours"},
    {"drop-last", "false", "ours"},
    {"batch-size", "128", "--batch_size"},
    {"gradient-accumulation-steps", "1", "ours"},
    {"epochs", "100", "--epochs"},
    {"warmup-epochs", "10", "--warmup"},
    {"schedule", "by-step", "build_scheduler"},
    {"eval-interval", "1", "every epoch"},
    {"optimizer", "adamw", "torch.optim.AdamW"},
    {"learning-rate", "1e-3", "--lr"},
    {"min-lr", "1e-6", "lr_min"},
    {"weight-decay", "0.05", "--weight-decay"},
    {"decay-all", "false", "ours"},
    {"beta1", "0.9", "betas"},
    {"beta2", "0.999", "betas"},
    {"grad-clip", "0", "none"},
};
/// aanna0701/SPT_LSA_ViT: main.py, models/create_model.py, utils/sampler.py.
inline const Rows sl_cifar10_rows{
    {"image-size", "0", "img_size 32"},
    {"num-labels", "10", "n_classes"},
    {"head-dim", "16", "dim_head"},
    {"drop-path", "0.1", "--sd"},
    {"passes", "3", "RASampler's length"},
    {"drop-last", "true", "1171 batches an epoch"},
    {"decay-all", "true", "model.parameters()"},
};
inline const Rows sl_cifar100_rows{{"num-labels", "100", "n_classes"},
                                   {"statistics", "sl-cifar100", "cifar_mean, cifar_std"}};
/// kentaroy47/vision-transformers-cifar10: train_cifar10.py and models/vit_small.py; SET-Adam's numbers are from
/// section 4.1 of AttentionX, batch and epochs from the fork that its author supervised.
inline const Rows kk_cifar10_rows{
    {"image-size", "0", "size 32"},
    {"num-labels", "10", "num_classes"},
    {"patch-size", "4", "--patch"},
    {"hidden-size", "512", "--dimhead"},
    {"num-hidden-layers", "6", "depth"},
    {"num-attention-heads", "8", "heads"},
    {"head-dim", "64", "dim_head"},
    {"intermediate-size", "512", "mlp_dim"},
    {"shifted-patch-tokenization", "cardinal", "SPT"},
    {"locality-self-attention", "per_layer", "LSA"},
    {"init", "uniform", "nn.Linear"},
    {"dropout", "0.1", "dropout, emb_dropout"},
    {"augment", "crop-flip", "--noaug"},
    {"statistics", "kk-cifar10", "transforms.Normalize"},
    {"mix", "0", "none"},
    {"label-smoothing", "0", "nn.CrossEntropyLoss"},
    {"batch-size", "128", "--bs"},
    {"epochs", "400", "--n_epochs"},
    {"warmup-epochs", "0", "none"},
    {"schedule", "by-epoch", "CosineAnnealingLR"},
    {"optimizer", "setadam", "SETAdam"},
    {"learning-rate", "1e-4", "--lr"},
    {"weight-decay", "0", "none"},
    {"eps", "1e-18", "eps"},
};
inline const Rows kk_cifar100_rows{{"num-labels", "100", "num_classes"},
                                   {"statistics", "kk-cifar100", "transforms.Normalize"}};
/// BeliefFormer's ImageNet runs: varsize_1gpu_best.sh, main.py, models_vit/vision_transformer_all.py and localvit.py,
/// and timm 0.3.2.
inline const Rows localvit_s_rows{
    {"image-size", "224", "--input-size"},
    {"num-labels", "1000", "nb_classes"},
    {"patch-size", "16", "patch_size"},
    {"hidden-size", "384", "embed_dim"},
    {"num-hidden-layers", "12", "depth"},
    {"num-attention-heads", "6", "num_heads"},
    {"head-dim", "64", "embed_dim / num_heads"},
    {"intermediate-size", "1536", "mlp_ratio 4"},
    {"hidden-act", "hardswish", "h_swish"},
    {"layer-norm-eps", "1e-6", "norm_layer"},
    {"depthwise-kernel-size", "3", "Conv2d(hidden_dim, hidden_dim, 3, groups=hidden_dim)"},
    {"init", "localvit", "_init_weights"},
    {"drop-path", "0.1", "--drop-path"},
    {"drop-path-ramp", "true", "linspace(0, drop_path_rate, depth)"},
    {"augment", "randaugment", "ours for rand-m9-mstd0.5-inc1"},
    {"statistics", "imagenet", "IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD"},
    {"random-erasing", "0.25", "--reprob"},
    {"mix", "1", "mixup_prob"},
    {"repeats", "3", "RASampler"},
    {"drop-last", "true", "drop_last"},
    {"batch-size", "64", "--batch-size"},
    {"epochs", "300", "--epochs"},
    {"warmup-epochs", "0", "none"},
    {"learning-rate", "1.25e-4", "--lr 1e-3, times 64 / 512"},
    {"min-lr", "1e-5", "--min-lr"},
    {"precision", "mixed", "torch.cuda.amp.autocast"},
    {"half", "float16", "NativeScaler"},
};
/// Not published, our own.
inline const Rows cifar_tiny{
    {"image-size", "0", "ours"},     {"hidden-size", "64", "ours"},        {"num-hidden-layers", "3", "ours"},
    {"drop-last", "true", "ours"},   {"num-attention-heads", "4", "ours"}, {"intermediate-size", "128", "ours"},
    {"mix", "0", "ours"},            {"augment", "crop-flip", "ours"},     {"label-smoothing", "0", "ours"},
    {"batch-size", "64", "ours"},    {"epochs", "3", "ours"},              {"warmup-epochs", "1", "ours"},
    {"learning-rate", "2e-3", "ours"}, {"min-lr", "1e-5", "ours"},         {"grad-clip", "1", "ours"},
};

}  // namespace vkf::test
