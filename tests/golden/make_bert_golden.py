#!/usr/bin/python3
"""Makes the golden cases bert-… in this folder: a small BERT per attention variant, in float64.

  tests/golden/make_bert_golden.py [CASE...]        (Debian's python3-torch and python3-numpy)

The files are those of make_golden.py. Written from the equations of Devlin et al. (2018) and Vaswani et al. (2017),
independently of the C++ code: norms divide by a standard deviation, every token sees every token, and the head adds a
bias to each token's logit."""
import math

import torch

from make_golden import chosen, language_case
from variants import Attention, attention_parameters, signals, variant_of

# Length of the texts, attention object, and other changes to `BASE`. An entry's position is its random seed.
CASES = {
    "bert-standard": (7, {"variant": "standard"}, {}),
    "bert-one-token": (1, {"variant": "standard"}, {"num_hidden_layers": 1}),
    "bert-odd": (5, {"variant": "standard"}, {"hidden_size": 15, "intermediate_size": 13, "hidden_act": "relu"}),
    "bert-untied": (7, {"variant": "standard"}, {"tie_word_embeddings": False, "hidden_act": "gelu_new"}),
    "bert-attentionx-sum": (6, {"variant": "attentionx", "gamma": 3.0, "gamma_on": "sum"}, {"layer_norm_eps": 1e-5}),
    "bert-attentionx-value": (7, {"variant": "attentionx", "gamma": 0.5, "gamma_on": "value", "mask_diagonal": True},
                              {"hidden_act": "relu"}),
    "bert-belief": (7, {"variant": "belief"}, {}),
    "bert-belief-head": (9, {"variant": "belief-head"}, {"hidden_size": 15, "type_vocab_size": 1}),
    "bert-belief-star": (7, {"variant": "belief-star"}, {"hidden_act": "relu"}),
    "bert-concat": (3, {"variant": "concat"}, {"num_attention_heads": 1, "hidden_size": 9}),
    "bert-differential": (7, {"variant": "differential"}, {"num_attention_heads": 2}),
    "bert-linear": (7, {"variant": "belief-star", "kind": "linear"}, {}),
    "bert-linformer": (7, {"variant": "belief", "kind": "linformer", "linformer_k": 3, "linformer_length": 9}, {}),
    "bert-linformer-none": (7, {"variant": "standard", "kind": "linformer", "linformer_k": 4, "linformer_length": 7,
                                "linformer_sharing": "none"}, {}),
    "bert-linformer-one": (6, {"variant": "concat", "kind": "linformer", "linformer_k": 2, "linformer_length": 8,
                               "linformer_sharing": "key_value"}, {}),
    "bert-longformer": (9, {"variant": "belief-star", "kind": "longformer", "longformer_window": 1,
                            "longformer_global_tokens": 2}, {}),
    "bert-longformer-all": (2, {"variant": "attentionx", "gamma": 3.0, "gamma_on": "sum", "kind": "longformer",
                                "longformer_window": 0, "longformer_global_tokens": 3}, {}),
}
BASE = {"model_type": "bert", "vocab_size": 13, "max_position_embeddings": 9, "type_vocab_size": 2, "hidden_size": 12,
        "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 3, "hidden_act": "gelu",
        "layer_norm_eps": 1e-12, "tie_word_embeddings": True, "mask_token_id": 12, "mask_share": 0.15}
ACTIVATIONS = {"gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
               "gelu_new": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
               "relu": lambda x: torch.where(x > 0, x, torch.zeros_like(x))}


def norm(config, p, x, name):
    centred = x - x.mean(-1, keepdim=True)
    deviation = torch.sqrt((centred * centred).mean(-1, keepdim=True) + config["layer_norm_eps"])
    return p[name + ".LayerNorm.weight"] * centred / deviation + p[name + ".LayerNorm.bias"]


def linear(p, x, name):
    y = torch.einsum("bti,oi->bto", x, p[name + ".weight"])
    return y + p[name + ".bias"] if name + ".bias" in p else y


def encode(config, p, tokens):
    """States of all tokens, [B, T, C]."""
    B, T = tokens.shape
    M, act = config["num_attention_heads"], ACTIVATIONS[config["hidden_act"]]
    seen = torch.ones(T, T, dtype=torch.bool)
    if config["attention"].get("mask_diagonal"):
        seen = ~torch.eye(T, dtype=torch.bool)

    x = p["bert.embeddings.word_embeddings.weight"][tokens] + p["bert.embeddings.position_embeddings.weight"][:T]
    x = norm(config, p, x + p["bert.embeddings.token_type_embeddings.weight"][0], "bert.embeddings")
    for i in range(config["num_hidden_layers"]):
        block = f"bert.encoder.layer.{i}."
        q, k, v = (linear(p, x, f"{block}attention.self.{name}").view(B, T, M, -1).permute(0, 2, 1, 3)
                   for name in ("query", "key", "value"))
        attention = Attention(q, k, v, seen, p, block + "attention.", i, config["attention"], x=x)
        for signal, name in zip(signals(config, attention), ("dense", "dense_s")):
            x = x + linear(p, signal, f"{block}attention.output.{name}")
        x = norm(config, p, x, block + "attention.output")
        inner = act(linear(p, x, block + "intermediate.dense"))
        x = norm(config, p, x + linear(p, inner, block + "output.dense"), block + "output")
    return x


def forward(config, p, tokens):
    head, act = "cls.predictions.", ACTIVATIONS[config["hidden_act"]]
    x = act(linear(p, encode(config, p, tokens), head + "transform.dense"))
    x = norm(config, p, x, head + "transform")
    table = p.get(head + "decoder.weight", p["bert.embeddings.word_embeddings.weight"])
    return torch.einsum("bti,vi->btv", x, table) + p[head + "bias"]


def linear_shapes(name, out, width):
    return (name + ".weight", (out, width)), (name + ".bias", (out,))


def norm_shapes(name, width):
    return (name + ".LayerNorm.weight", (width,)), (name + ".LayerNorm.bias", (width,))


def encoder_shapes(config):
    C, I, V = config["hidden_size"], config["intermediate_size"], config["vocab_size"]

    for name, rows in (("word", V), ("position", config["max_position_embeddings"]),
                       ("token_type", config["type_vocab_size"])):
        yield f"bert.embeddings.{name}_embeddings.weight", (rows, C)
    yield from norm_shapes("bert.embeddings", C)
    for i in range(config["num_hidden_layers"]):
        block = f"bert.encoder.layer.{i}."
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            yield from linear_shapes(block + "attention." + name, C, C)
        if variant_of(config).second:
            yield block + "attention.output.dense_s.weight", (C, C)
        heads = config["num_attention_heads"]
        for name, shape in attention_parameters(config, heads, C // heads).items():
            yield block + "attention." + name, shape
        yield from norm_shapes(block + "attention.output", C)
        yield from linear_shapes(block + "intermediate.dense", I, C)
        yield from linear_shapes(block + "output.dense", C, I)
        yield from norm_shapes(block + "output", C)


def shapes(config):
    C, V = config["hidden_size"], config["vocab_size"]
    yield from encoder_shapes(config)
    yield from linear_shapes("cls.predictions.transform.dense", C, C)
    yield from norm_shapes("cls.predictions.transform", C)
    yield "cls.predictions.bias", (V,)
    if not config["tie_word_embeddings"]:
        yield "cls.predictions.decoder.weight", (V, C)


def cancels(key):
    """True for the biases of keys: they add the same number to all scores of a query, so softmax ignores them."""
    return key.endswith((".key.bias", ".key_global.bias"))


def main():
    for seed, (name, (length, spec, changes)) in chosen(CASES):
        ignored = (0, min(1, length - 1))
        language_case(name, seed, {**BASE, **changes, "attention": spec}, shapes, forward, length, ignored,
                      cancels=cancels)


if __name__ == "__main__":
    main()
