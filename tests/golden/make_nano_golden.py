#!/usr/bin/python3
"""Makes the golden cases nano-…: small nano-GPT2s with and without rounded weights, in float64.

  tests/golden/make_nano_golden.py        (Debian's python3-torch and python3-numpy)

The files are those of make_golden.py. Written from modded-nanogpt's description, independently of the C++ code: weights
are rounded with a table of all representable numbers, rotary positions are rotation matrices."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from make_golden import chosen, language_case
from variants import Attention, attention_parameters, causal, signals, variant_of

B, T = 2, 7
# An entry's position is its random seed.
CASES = {
    "nano-standard": ({"variant": "standard"}, {"casted_weights": False}),
    "nano-casted": ({"variant": "standard"}, {}),
    "nano-belief": ({"variant": "belief"}, {"rope_theta": 500.0}),
    "nano-belief-star": ({"variant": "belief-star"}, {"n_head": 2}),
    "nano-differential": ({"variant": "differential"}, {"casted_weights": False}),
}
BASE = {"model_type": "nano-gpt2", "vocab_size": 13, "n_positions": T, "n_embd": 16, "n_layer": 2, "n_head": 4,
        "rms_norm_eps": 1e-6, "rope_theta": 1e4, "casted_weights": True}

# All numbers with two binary digits after the point, with True if the digits are even.
GRID = [(0.0, True)] + [(m * 2.0**-16, m % 2 == 0) for m in range(1, 4)] + \
       [((4 + m) * 2.0**(e - 2), m % 2 == 0) for e in range(-14, 17) for m in range(4)]
NUMBERS = np.array([number for number, _ in GRID])


def nearest(x):
    size = abs(x)
    at = min(int(np.searchsorted(NUMBERS, size)), len(GRID) - 1)
    below = max(at - 1, 0)
    up, down = NUMBERS[at] - size, size - NUMBERS[below]
    chosen = at if up < down or (up == down and GRID[at][1]) else below
    return math.copysign(GRID[chosen][0], x)


def casted(config, w):
    if not config["casted_weights"]:
        return w
    mean = w.detach().abs().mean()
    rounded = mean * torch.tensor(np.vectorize(nearest)((w.detach() / mean).numpy()))
    return w + (rounded - w).detach()


def turned(config, x):
    """Multiplies every pair (i, i + D/2) of x [B, M, T, D] by the rotation matrix of its position's angle."""
    D = x.shape[-1]
    y = torch.empty_like(x)
    for t in range(T):
        for i in range(D // 2):
            angle = t * config["rope_theta"] ** (-2 * i / D)
            rotation = torch.tensor([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]],
                                    dtype=torch.float64)
            pair = torch.stack([x[:, :, t, i], x[:, :, t, i + D // 2]], -1) @ rotation.T
            y[:, :, t, i], y[:, :, t, i + D // 2] = pair[..., 0], pair[..., 1]
    return y


def forward(config, p, tokens):
    norm = lambda x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + config["rms_norm_eps"])
    share = 1 / math.sqrt(2 * config["n_layer"])
    x = p["wte.weight"][tokens]
    for i in range(config["n_layer"]):
        linear = lambda y, name: F.linear(y, casted(config, p[f"h.{i}.{name}.weight"]))
        heads = lambda y: y.view(B, T, config["n_head"], -1).permute(0, 2, 1, 3)
        attention = Attention(*map(heads, linear(norm(x), "attn.c_attn").chunk(3, -1)), causal(T), p, f"h.{i}.attn.", i,
                              config["attention"], lambda x: turned(config, x))
        maps = zip(signals(config, attention), ("attn.c_proj", "attn.c_proj_s"))
        x = x + share * sum(linear(signal, name) for signal, name in maps)
        inner = linear(norm(x), "mlp.c_fc")
        x = x + linear(0.5 * inner * (1 + torch.erf(inner / math.sqrt(2))), "mlp.c_proj")
    return norm(x) @ p["wte.weight"].T


def shapes(config):
    C = config["n_embd"]
    yield "wte.weight", (config["vocab_size"], C)
    for i in range(config["n_layer"]):
        for name, shape in {"attn.c_attn": (3 * C, C), "attn.c_proj": (C, C), "mlp.c_fc": (4 * C, C),
                            "mlp.c_proj": (C, 4 * C)}.items():
            yield f"h.{i}.{name}.weight", shape
        if variant_of(config).second:
            yield f"h.{i}.attn.c_proj_s.weight", (C, C)
        for name, shape in attention_parameters(config, config["n_head"], C // config["n_head"]).items():
            yield f"h.{i}.attn." + name, shape


def in_use(config, weights):
    """A model without rounding, with the weights already rounded."""
    matrix = lambda key: key.startswith("h.") and weights[key].ndim == 2
    used = {key: casted(config, torch.tensor(a, dtype=torch.float64)).numpy() if matrix(key) else a
            for key, a in weights.items()}
    return {**config, "casted_weights": False}, used


def main():
    for seed, (name, (spec, changes)) in chosen(CASES):
        config = {**BASE, **changes, "attention": spec}
        language_case(name, seed, config, shapes, forward, T, ignored=(1, 2), in_use=in_use)


if __name__ == "__main__":
    main()
