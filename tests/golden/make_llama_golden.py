#!/usr/bin/python3
"""Makes the golden cases llama-… in this folder: a small Llama per attention variant, in float64.

  tests/golden/make_llama_golden.py        (Debian's python3-torch and python3-numpy)

The files are those of make_golden.py. Written from the papers' equations, independently of the C++ code: rotary
positions multiply complex numbers, frequencies are scaled one wavelength at a time, shared heads are repeated."""
import math

import torch
import torch.nn.functional as F

from make_golden import chosen, language_case
from variants import Attention, attention_parameters, causal, signals, variant_of

T = 7
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 100}
# Attention object and other changes to `BASE`. An entry's position is its random seed.
CASES = {
    "llama-standard": ({"variant": "standard"}, {}),
    "llama-attentionx": ({"variant": "attentionx", "gamma": 3.0, "gamma_on": "sum"},
                         {"rope_theta": 5e5, "rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    "llama-belief": ({"variant": "belief"}, {"tie_word_embeddings": True}),
    "llama-belief-head": ({"variant": "belief-head"},
                          {"num_key_value_heads": 1, "head_dim": 8, "rope_scaling": LLAMA3}),
    "llama-belief-star": ({"variant": "belief-star"}, {"rope_theta": 5e5, "head_dim": 6}),
    "llama-concat": ({"variant": "concat"}, {"num_key_value_heads": 4, "attention_bias": True, "mlp_bias": True,
                                             "hidden_act": "gelu"}),
    "llama-differential": ({"variant": "differential"}, {"head_dim": 8, "tie_word_embeddings": True}),
    "llama-linear": ({"variant": "belief-head", "kind": "linear"}, {"num_key_value_heads": 2}),
}
BASE = {"model_type": "llama", "vocab_size": 13, "max_position_embeddings": T, "hidden_size": 16,
        "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 4, "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 1e4, "tie_word_embeddings": False,
        "attention_bias": False, "mlp_bias": False}


def frequencies(config, width):
    scaling, made = config.get("rope_scaling"), []
    for i in range(width // 2):
        frequency = config["rope_theta"] ** (-2 * i / width)
        if scaling and scaling["rope_type"] == "linear":
            frequency /= scaling["factor"]
        elif scaling:
            context, length = scaling["original_max_position_embeddings"], 2 * math.pi / frequency
            low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
            if length > context / low:
                frequency /= scaling["factor"]
            elif length >= context / high:
                smooth = (context / length - low) / (high - low)
                frequency = (1 - smooth) * frequency / scaling["factor"] + smooth * frequency
        made.append(frequency)
    return torch.tensor(made, dtype=torch.float64)


def turned(config, x):
    """Rotates elements i and i + D/2 of x [B, M, T, D], as complex numbers, by their positions' angles."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * frequencies(config, 2 * half)
    y = torch.complex(x[..., :half].contiguous(), x[..., half:].contiguous()) * torch.exp(1j * angle)
    return torch.cat([y.real, y.imag], -1)


def rms_norm(x, weight, eps):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def forward(config, p, tokens):
    eps, M, N = config["rms_norm_eps"], config["num_attention_heads"], config["num_key_value_heads"]
    gate = {"silu": lambda x: x / (1 + torch.exp(-x)), "gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))}
    B, T = tokens.shape
    x = p["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        block = f"model.layers.{i}."

        def linear(y, name):
            return F.linear(y, p[block + name + ".weight"], p.get(block + name + ".bias"))

        def heads(y, name, count):
            split = linear(y, "self_attn." + name).view(B, T, count, -1).permute(0, 2, 1, 3)
            return split.repeat_interleave(M // count, 1)

        y = rms_norm(x, p[block + "input_layernorm.weight"], eps)
        attention = Attention(heads(y, "q_proj", M), heads(y, "k_proj", N), heads(y, "v_proj", N), causal(T), p,
                              block + "self_attn.", i, config["attention"], lambda y: turned(config, y), x=x)
        for signal, name in zip(signals(config, attention), ("o_proj", "o_proj_s")):
            x = x + linear(signal, "self_attn." + name)
        y = rms_norm(x, p[block + "post_attention_layernorm.weight"], eps)
        inner = gate[config["hidden_act"]](linear(y, "mlp.gate_proj")) * linear(y, "mlp.up_proj")
        x = x + linear(inner, "mlp.down_proj")
    x = rms_norm(x, p["model.norm.weight"], eps)
    return x @ p.get("lm_head.weight", p["model.embed_tokens.weight"]).T


def shapes(config):
    C, I, D = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    rows, shared = config["num_attention_heads"] * D, config["num_key_value_heads"] * D
    yield "model.embed_tokens.weight", (config["vocab_size"], C)
    for i in range(config["num_hidden_layers"]):
        block = f"model.layers.{i}."
        attention = {"q_proj": (rows, C), "k_proj": (shared, C), "v_proj": (shared, C), "o_proj": (C, rows)}
        mlp = {"gate_proj": (I, C), "up_proj": (I, C), "down_proj": (C, I)}
        for part, maps, bias in (("self_attn.", attention, config["attention_bias"]),
                                 ("mlp.", mlp, config["mlp_bias"])):
            for name, shape in maps.items():
                yield block + part + name + ".weight", shape
                if bias:
                    yield block + part + name + ".bias", shape[:1]
        if variant_of(config).second:
            yield block + "self_attn.o_proj_s.weight", (C, rows)
        for name, shape in attention_parameters(config, config["num_attention_heads"], D).items():
            yield block + "self_attn." + name, shape
        for name in ("input_layernorm", "post_attention_layernorm"):
            yield block + name + ".weight", (C,)
    yield "model.norm.weight", (C,)
    if not config["tie_word_embeddings"]:
        yield "lm_head.weight", (config["vocab_size"], C)


def main():
    for seed, (name, (spec, changes)) in chosen(CASES):
        language_case(name, seed, {**BASE, **changes, "attention": spec}, shapes, forward, T)


if __name__ == "__main__":
    main()
