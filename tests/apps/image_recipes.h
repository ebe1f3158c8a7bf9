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
    {"init", "xavier", "xavier_normal_"},
    {"drop-path", "0", "ours"},
    {"drop-path-ramp", "false", "ours; SL's rate is the same in every block"},
    {"dropout", "0", "dropout"},
    {"augment", "autoaugment", "CIFAR10Policy"},
    {"statistics", "sl-cifar10", "cifar_mean, cifar_std"},
    {"mix", "0.5", "mix_prob"},
    {"label-smoothing", "0.1", "LabelSmoothingCrossEntropy"},
    {"passes", "1", "ours"},
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
/// Not published, our own.
inline const Rows cifar_tiny{
    {"image-size", "0", "ours"},     {"hidden-size", "64", "ours"},        {"num-hidden-layers", "3", "ours"},
    {"drop-last", "true", "ours"},   {"num-attention-heads", "4", "ours"}, {"intermediate-size", "128", "ours"},
    {"mix", "0", "ours"},            {"augment", "crop-flip", "ours"},     {"label-smoothing", "0", "ours"},
    {"batch-size", "64", "ours"},    {"epochs", "3", "ours"},              {"warmup-epochs", "1", "ours"},
    {"learning-rate", "2e-3", "ours"}, {"min-lr", "1e-5", "ours"},         {"grad-clip", "1", "ours"},
};

}  // namespace vkf::test
