#!/usr/bin/python3
"""Makes vit-sides: a small LocalViT for images of 224 pixels that sees images of 32, 96 and 224 pixels, as during a run
in which images grow, by PyTorch in float64.

  tests/golden/make_vit_sides_golden.py        (Debian's python3-torch and python3-numpy)

The folder is a model directory with a file SIDE.safetensors per side: labels, logits, loss, rounding and grad.NAME for
every parameter; resampled, the table of positions of that side by torch.nn.functional.interpolate, and resampled.grad.
Images are not stored: element k of images [B, 3, side, side] is pixel(k)."""
import json
import os

import numpy as np
import torch
import torch.nn.functional as F

from make_golden import HERE, rounding, save
from make_vit_golden import CHANNELS, CLASSES, INNER, LAYERS, LOCAL, M, QUIET, forward, shapes
from noise import Noise

SIDES, BATCH, WIDTH, PATCH = (32, 96, 224), 2, 6, 16
CONFIG = {"model_type": "vit", "image_size": SIDES[-1], "patch_size": PATCH, "num_channels": CHANNELS,
          "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": M, "head_dim": WIDTH // M,
          "intermediate_size": INNER, "layer_norm_eps": 1e-6, "qkv_bias": False, "num_labels": CLASSES, **LOCAL,
          "attention": {"variant": "belief"}}


def pixel(k):
    """Numbers in [-1, 1) from the bits of k, by the last steps of MurmurHash3."""
    with np.errstate(over="ignore"):
        h = k.astype(np.uint32) * np.uint32(0x9E3779B1)
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        h = h ^ (h >> np.uint32(16))
    return (h / 2.0**31 - 1).astype(np.float32)


def resampled(table, grid):
    """The table [1, 1 + n · n, C] for a grid of grid · grid patches."""
    first, rest = table[:, :1], table[:, 1:]
    n = round(rest.shape[1] ** 0.5)
    picture = rest.reshape(1, n, n, -1).permute(0, 3, 1, 2)
    picture = F.interpolate(picture, size=(grid, grid), mode="bicubic", align_corners=False)
    return torch.cat([first, picture.flatten(2).transpose(1, 2)], 1)


def main():
    rng = np.random.default_rng(500)
    weights = {key: (rng.normal(0, 0.3, shape) + (1 if len(shape) == 1 and key.endswith("weight") else 0))
               .astype(np.float32) for key, shape in shapes(CONFIG)}
    folder = os.path.join(HERE, "vit-sides")
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/config.json", "w") as file:
        json.dump(CONFIG, file, indent=1)
    save(folder + "/model.safetensors", weights)
    for side in SIDES:
        elements = BATCH * CHANNELS * side * side
        images = torch.tensor(pixel(np.arange(elements)).reshape(BATCH, CHANNELS, side, side), dtype=torch.float64)
        labels = rng.integers(0, CLASSES, (BATCH,))

        def run(values):
            p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=True) for key, a in values.items()}
            table = resampled(p["pos_embed"], side // PATCH)
            table.retain_grad()
            logits = forward({**CONFIG, "image_size": side}, {**p, "pos_embed": table}, images, Noise(**QUIET), [])
            loss = F.cross_entropy(logits, torch.tensor(labels))
            loss.backward()
            return table, logits, loss, {key: q.grad.numpy() for key, q in p.items()}

        table, logits, loss, d = run(weights)
        case = {"labels": labels.astype(np.int64), "logits": logits.detach().numpy().astype(np.float32),
                "loss": np.array(loss.item(), np.float32), "rounding": rounding(lambda values: run(values)[3], weights),
                "resampled": table.detach().numpy().astype(np.float32),
                "resampled.grad": table.grad.numpy().astype(np.float32)}
        case.update({"grad." + key: a.astype(np.float32) for key, a in d.items()})
        save(f"{folder}/{side}.safetensors", case)


if __name__ == "__main__":
    main()
