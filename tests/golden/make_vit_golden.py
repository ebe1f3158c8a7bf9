#!/usr/bin/python3
"""Makes the golden cases vit-*: small vision transformers with the recipes' extras, by PyTorch in float64.

  tests/golden/make_vit_golden.py        (Debian's python3-torch and python3-numpy)

Each folder is a model directory with a case.safetensors: images, labels, logits, loss and grad.NAME for every
parameter; terms.NAME for learned scales is the sum of the magnitudes that nearly cancel in their gradients. Cases with
noise also have the rates dropout and drop_path, seed and micro_batch, and drop_path_ramp if the rate grows with depth.
Written from the papers' and recipes' equations, independently of the C++ code."""
import json
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

from make_golden import HERE, chosen, rounding, save
from variants import Attention, attention_parameters, signals, variant_of
from noise import Noise

SIDE, P, CHANNELS, C, M, CLASSES, INNER = 8, 4, 3, 12, 3, 5, 20
LAYERS, BATCH, NOISY_LAYERS, NOISY_BATCH = 2, 2, 3, 4
QUIET = {"dropout": 0.0, "drop_path": 0.0, "seed": 0, "micro_batch": 0}
KK = {"shifted_patch_tokenization": "cardinal", "locality_self_attention": "per_layer"}
SL = {"shifted_patch_tokenization": "diagonal", "locality_self_attention": "per_head"}
LOCAL = {"depthwise_kernel_size": 3, "hidden_act": "hardswish"}
CASES = {  # attention, other keys, noise; stochastic depth drops one or two of the four samples in every branch
    "vit-standard": ({"variant": "standard"}, {"head_dim": 5}, {}),
    "vit-belief": ({"variant": "belief"}, {"qkv_bias": True}, {}),
    "vit-kk": ({"variant": "attentionx", "gamma": 1.0, "gamma_on": "sum"}, KK, {}),
    "vit-sl": ({"variant": "belief-star"}, SL, {}),
    "vit-noise": ({"variant": "standard"}, {},
                  {"dropout": 0.25, "drop_path": 0.4, "seed": 7, "micro_batch": 2**33 + 6}),
    "vit-kk-dropout": ({"variant": "attentionx", "gamma": 1.0, "gamma_on": "sum"}, KK,
                       {"dropout": 0.1, "seed": 1337, "micro_batch": 5}),
    "vit-sl-depth": ({"variant": "belief-star"}, SL, {"drop_path": 0.3, "seed": 2**40 + 50, "micro_batch": 1}),
    "vit-ramp": ({"variant": "belief"}, {}, {"drop_path": 0.5, "drop_path_ramp": True, "seed": 9, "micro_batch": 3}),
    "vit-differential": ({"variant": "differential"}, {}, {}),
    "vit-local": ({"variant": "standard"}, LOCAL, {}),
    "vit-local-grid": ({"variant": "belief"}, {**LOCAL, "image_size": 28, "patch_size": 2}, {}),  # 14x14, as of 224/16
    "vit-local-depth": ({"variant": "belief-star"}, {**LOCAL, "image_size": 12, "depthwise_kernel_size": 5},
                        {"drop_path": 0.5, "drop_path_ramp": True, "seed": 11, "micro_batch": 4}),
}
MOVES = {"cardinal": [(0, 1), (0, -1), (1, 0), (-1, 0)],
         "diagonal": [(a * (P // 2), b * (P // 2)) for a in (1, -1) for b in (1, -1)]}


def moved(x, down, right):
    """x [B, C, H, W], shifted, with zeros where no pixel moved to."""
    y = torch.zeros_like(x)
    H, W = x.shape[2:]
    for i in range(H):
        for j in range(W):
            if 0 <= i - down < H and 0 <= j - right < W:
                y[:, :, i, j] = x[:, :, i - down, j - right]
    return y


def forward(config, p, images, noise, scales):
    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], p[name + ".weight"], p[name + ".bias"], config["layer_norm_eps"])

    def linear(x, name):
        y = x @ p[name + ".weight"].reshape(p[name + ".weight"].shape[0], -1).T
        return y + p[name + ".bias"] if name + ".bias" in p else y

    def activation(x):
        if config["hidden_act"] == "hardswish":
            return x * F.relu6(x + 3) / 6
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

    def dropped(x, place):
        return x * torch.tensor(noise.elements(place, tuple(x.shape)))

    def branch(x, place, depth):
        """Branch output for the residual stream: after dropout, stochastic depth drops whole samples."""
        return dropped(x, place) * torch.tensor(noise.samples(place, B, depth)).view(B, 1, 1)

    B, C, D = len(images), config["hidden_size"], config["head_dim"]
    shift = config.get("shifted_patch_tokenization")
    if shift:
        images = torch.cat([images] + [moved(images, *by) for by in MOVES[shift]], 1)
    side, n = config["patch_size"], config["image_size"] // config["patch_size"]
    x = torch.stack([images[:, :, i * side:(i + 1) * side, j * side:(j + 1) * side].flatten(1)
                     for i in range(n) for j in range(n)], 1)
    if shift:
        x = norm(x, "patch_embed.norm")
    x = torch.cat([p["cls_token"].expand(B, 1, C), linear(x, "patch_embed.proj")], 1) + p["pos_embed"]
    x = dropped(x, "pos_drop")
    T = x.shape[1]
    for i in range(config["num_hidden_layers"]):
        b, depth = f"blocks.{i}.", i / (config["num_hidden_layers"] - 1)
        q, k, v = (y.view(B, T, M, D).permute(0, 2, 1, 3)
                   for y in linear(norm(x, b + "norm1"), b + "attn.qkv").split(M * D, -1))
        locality = config.get("locality_self_attention")
        if locality == "per_layer":
            scale = p[b + "attn.temperature"].exp()
        elif locality == "per_head":
            scale = p[b + "attn.temperature"].view(M, 1, 1)
        else:
            scale = None
        if locality:
            scale = scale.expand(B, M, T, T)
            scale.retain_grad()
            scales.append((b + "attn.temperature", scale))
        others = torch.eye(T) == 0 if locality else torch.ones(T, T, dtype=torch.bool)
        attention = Attention(q, k, v, others, p, b + "attn.", i, config["attention"], scale=scale)
        maps = zip(signals(config, attention), (b + "attn.proj", b + "attn.proj_s"))
        signal = sum(linear(y, name) for y, name in maps)
        x = x + branch(signal, b + "attn.proj", depth)
        kernel = config.get("depthwise_kernel_size")
        if kernel:  # LocalViT; the class token passes by
            patches = activation(linear(norm(x[:, 1:], b + "norm2"), b + "mlp.fc1"))
            images = patches.transpose(1, 2).reshape(B, INNER, n, n)
            images = activation(F.conv2d(images, p[b + "mlp.dwconv.weight"], padding=kernel // 2, groups=INNER))
            patches = linear(images.flatten(2).transpose(1, 2), b + "mlp.fc2")
            x = torch.cat([x[:, :1], x[:, 1:] + branch(patches, b + "mlp.fc2", depth)], 1)
            continue
        inner = dropped(activation(linear(norm(x, b + "norm2"), b + "mlp.fc1")), b + "mlp.fc1")
        x = x + branch(linear(inner, b + "mlp.fc2"), b + "mlp.fc2", depth)
    return linear(norm(x[:, 0], "norm"), "head")


def shapes(config):
    C, inner = config["hidden_size"], M * config["head_dim"]
    channels = CHANNELS * (5 if "shifted_patch_tokenization" in config else 1)
    side, kernel = config["patch_size"], config.get("depthwise_kernel_size", 0)
    yield "cls_token", (1, 1, C)
    yield "pos_embed", (1, (config["image_size"] // side) ** 2 + 1, C)
    maps = [("patch_embed.proj", (C, channels, side, side), True), ("head", (CLASSES, C), True)]
    norms = [("norm", C)]
    if "shifted_patch_tokenization" in config:
        norms.append(("patch_embed.norm", channels * side * side))
    for i in range(config["num_hidden_layers"]):
        b = f"blocks.{i}."
        maps += [(b + "attn.qkv", (3 * inner, C), config["qkv_bias"]), (b + "attn.proj", (C, inner), True),
                 (b + "mlp.fc1", (INNER, C), not kernel), (b + "mlp.fc2", (C, INNER), not kernel)]
        if kernel:
            yield b + "mlp.dwconv.weight", (INNER, 1, kernel, kernel)
        if variant_of(config).second:
            maps.append((b + "attn.proj_s", (C, inner), False))
        for name, shape in attention_parameters(config, M, config["head_dim"]).items():
            yield b + "attn." + name, shape
        norms += [(b + "norm1", C), (b + "norm2", C)]
        if "locality_self_attention" in config:
            yield b + "attn.temperature", (1 if config["locality_self_attention"] == "per_layer" else M,)
    for name, shape, bias in maps:
        yield name + ".weight", shape
        if bias:
            yield name + ".bias", shape[:1]
    for name, width in norms:
        yield name + ".weight", (width,)
        yield name + ".bias", (width,)


def main():
    for seed, (name, (spec, changes, chances)) in chosen(CASES):
        rng = np.random.default_rng(100 + seed)
        config = {"model_type": "vit", "image_size": SIDE, "patch_size": P, "num_channels": CHANNELS, "hidden_size": C,
                  "num_hidden_layers": NOISY_LAYERS if chances else LAYERS, "num_attention_heads": M,
                  "head_dim": C // M, "intermediate_size": INNER, "hidden_act": "gelu", "layer_norm_eps": 1e-5,
                  "qkv_bias": False, "num_labels": CLASSES, **changes, "attention": spec}
        deviation = 0.2 if chances else 0.4  # in three blocks, 0.4 makes fp32's own error three to five times larger
        weights = {key: (rng.normal(0, deviation, shape) + (1 if len(shape) == 1 and key.endswith("weight") else 0))
                   .astype(np.float32) for key, shape in shapes(config)}
        B = NOISY_BATCH if chances else BATCH
        images = rng.normal(size=(B, CHANNELS, config["image_size"], config["image_size"])).astype(np.float32)
        labels = rng.integers(0, CLASSES, (B,))

        def run(values):
            p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=True) for key, a in values.items()}
            scales = []
            noise = Noise(**{**QUIET, **chances})
            logits = forward(config, p, torch.tensor(images, dtype=torch.float64), noise, scales)
            loss = F.cross_entropy(logits, torch.tensor(labels))
            loss.backward()
            return logits, loss, {key: q.grad.numpy() for key, q in p.items()}, scales

        logits, loss, d, scales = run(weights)
        sums = {}
        for key, scale in scales:  # per_layer: d exp(t) = exp(t) dt
            terms = (scale.grad * (scale if config["locality_self_attention"] == "per_layer" else 1)).abs()
            sums[key] = terms.sum((0, 2, 3)).view(weights[key].size, -1).sum(1).detach().numpy()
        folder = os.path.join(HERE, name)
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/config.json", "w") as file:
            json.dump(config, file, indent=1)
        save(folder + "/model.safetensors", weights)
        case = {"images": images, "labels": labels.astype(np.int64),
                "logits": logits.detach().numpy().astype(np.float32), "loss": np.array(loss.item(), np.float32),
                "rounding": rounding(lambda values: run(values)[2], weights, sums)}
        if chances:
            rates, numbers = ("dropout", "drop_path"), ("seed", "micro_batch")
            case.update({key: np.array(chances.get(key, 0), np.float32) for key in rates})
            case.update({key: np.array(chances[key], np.int64) for key in numbers})
            if "drop_path_ramp" in chances:
                case["drop_path_ramp"] = np.array(chances["drop_path_ramp"], np.int64)
        case.update({"grad." + key: a.astype(np.float32) for key, a in d.items()})
        case.update({"terms." + key: a.astype(np.float32) for key, a in sums.items()})
        save(folder + "/case.safetensors", case)


if __name__ == "__main__":
    main()
