#!/usr/bin/python3
"""Makes the golden cases in this folder: a small GPT-2 per attention variant and kind, and PyTorch's float64 results.

  tests/golden/make_golden.py [CASE...]        default: all cases (Debian's python3-torch and python3-numpy)

Each folder is a model directory (config.json, model.safetensors) with a case.safetensors: tokens, targets, logits,
loss, grad.NAME for every parameter, and `rounding`: the change of the gradients when every weight is rounded to fp32
once, from which tests derive their tolerances. Written from the papers' equations, independently of the C++ code."""
import json
import math
import os
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

from variants import VARIANTS, Attention, attention_parameters, causal, signals, variant_of

HERE = os.path.dirname(os.path.abspath(__file__))
V, T, C, M, L, B = 13, 7, 12, 3, 2, 2
CASES = {
    "standard": ({"variant": "standard"}, {}),
    "attentionx-sum": ({"variant": "attentionx", "gamma": 3.0, "gamma_on": "sum"}, {"bias": False}),
    "attentionx-value": ({"variant": "attentionx", "gamma": 0.5, "gamma_on": "value", "mask_diagonal": True}, {}),
    "belief": ({"variant": "belief"}, {"activation_function": "gelu"}),
    "belief-head": ({"variant": "belief-head"}, {"tie_word_embeddings": False}),
    "belief-star": ({"variant": "belief-star"}, {}),
    "concat": ({"variant": "concat"}, {"bias": False, "activation_function": "gelu"}),
}
for variant in VARIANTS:  # an entry's position is its random seed
    if variant not in (spec["variant"] for spec, _ in CASES.values()):
        CASES[variant] = ({"variant": variant}, {})
CASES.update({
    "kind-window": ({"variant": "belief-star", "kind": "window", "window": 2}, {}),
    "kind-window-global": ({"variant": "belief-head", "kind": "window", "window": 2, "dilation": 2,
                            "global_tokens": 1}, {}),
    "kind-bigbird": ({"variant": "belief", "kind": "bigbird", "bigbird_block_size": 1, "bigbird_window_blocks": 1,
                      "bigbird_global_blocks": 1, "bigbird_random_blocks": 0}, {}),
    "kind-linear": ({"variant": "belief", "kind": "linear"}, {}),
    "kind-linear-relu": ({"variant": "standard", "kind": "linear", "feature_map": "relu"}, {}),
    "kind-linear-taylor": ({"variant": "attentionx", "gamma": 2.0, "gamma_on": "value", "kind": "linear",
                            "feature_map": "taylor"}, {}),
})


def chosen(cases):
    """(seed, (name, case)) of all cases, or of those that the command line names."""
    for name in sys.argv[1:]:
        if name not in cases:
            sys.exit(f"no case {name}: {', '.join(cases)}")
    return [one for one in enumerate(cases.items()) if len(sys.argv) == 1 or one[1][0] in sys.argv[1:]]


def save(path, tensors):
    header, offset = {}, 0
    for name, a in tensors.items():
        kind = {"float32": "F32", "int64": "I64", "int32": "I32"}[str(a.dtype)]
        header[name] = {"dtype": kind, "shape": list(a.shape), "data_offsets": [offset, offset + a.nbytes]}
        offset += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for a in tensors.values():
            file.write(np.ascontiguousarray(a).tobytes())


def forward(config, p, tokens):
    def norm(x, name):
        return F.layer_norm(x, (C,), p[name + ".weight"], p.get(name + ".bias"), config["layer_norm_epsilon"])

    def linear(x, name):
        y = torch.einsum("bti,ij->btj", x, p[name + ".weight"])
        return y + p[name + ".bias"] if name + ".bias" in p else y

    gelu = {"gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
            "gelu_new": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))}
    spec, seen = config["attention"], causal(T)
    if spec.get("mask_diagonal"):
        seen = seen & ~torch.eye(T, dtype=torch.bool)
    x = p["wte.weight"][tokens] + p["wpe.weight"][:T]
    for i in range(L):
        h = f"h.{i}."
        q, k, v = (y.view(B, T, M, C // M).permute(0, 2, 1, 3)
                   for y in linear(norm(x, h + "ln_1"), h + "attn.c_attn").split(C, -1))
        attention = Attention(q, k, v, seen, p, h + "attn.", i, spec, x=x)
        for signal, name in zip(signals(config, attention), ("c_proj", "c_proj_s")):
            x = x + linear(signal, h + "attn." + name)
        inner = linear(norm(x, h + "ln_2"), h + "mlp.c_fc")
        x = x + linear(gelu[config["activation_function"]](inner), h + "mlp.c_proj")
    return norm(x, "ln_f") @ p.get("lm_head.weight", p["wte.weight"]).T


def shapes(config):
    bias = config["bias"]
    yield "wte.weight", (V, C)
    yield "wpe.weight", (T, C)
    for i in range(L):
        maps = [("attn.c_attn", (C, 3 * C)), ("attn.c_proj", (C, C)),
                ("mlp.c_fc", (C, 4 * C)), ("mlp.c_proj", (4 * C, C))]
        for name, shape in maps:
            yield f"h.{i}.{name}.weight", shape
            if bias:
                yield f"h.{i}.{name}.bias", shape[1:]
        if variant_of(config).second:
            yield f"h.{i}.attn.c_proj_s.weight", (C, C)
        for name, shape in attention_parameters(config, M, C // M).items():
            yield f"h.{i}.attn.{name}", shape
        for name in (f"h.{i}.ln_1", f"h.{i}.ln_2") + (("ln_f",) if i == L - 1 else ()):
            yield name + ".weight", (C,)
            if bias:
                yield name + ".bias", (C,)
    if not config["tie_word_embeddings"]:
        yield "lm_head.weight", (V, C)


def rounding(gradients, weights, terms=None, draws=25):
    """Condition of the problem: the largest relative change of a gradient when each weight changes by a factor of up to
    1 ± 2^-24; the median over draws, in float64. Changes are relative to the gradient's norm, but to no less than 1e-4
    of the largest norm or, if the sum of its terms is known, than the norm of that sum."""
    exact = gradients({key: a.astype(np.float64) for key, a in weights.items()})
    largest = max(np.linalg.norm(d) for d in exact.values())
    rng, moved = np.random.default_rng(0), []
    for _ in range(draws):
        off = gradients({key: a * (1 + 2.0**-24 * rng.uniform(-1, 1, a.shape)) for key, a in weights.items()})
        floor = lambda key: np.linalg.norm(terms[key]) if terms and key in terms else 1e-4 * largest
        moved.append(max(np.linalg.norm(off[key] - d) / max(np.linalg.norm(d), floor(key)) for key, d in exact.items()))
    return np.array(np.median(moved), np.float32)


def language_case(name, seed, config, shapes, forward, length, ignored=(0, 1), in_use=None, cancels=lambda key: False):
    """Writes the case of a language model with random weights and two rows of random tokens. `forward(config, p,
    tokens)` computes the logits. `in_use(config, weights)` is for models that round their weights, where small changes
    of weights may have no effect: it returns a configuration and weights with the same results without rounding. For
    biases whose gradients are sums over positions that nearly cancel (`cancels(key)`), terms.NAME in the case is the
    sum of their magnitudes."""
    rng, vocabulary = np.random.default_rng(seed), config["vocab_size"]
    weights = {key: (rng.normal(0, 0.4, shape) + (1 if len(shape) == 1 and key.endswith("weight") else 0))
               .astype(np.float32) for key, shape in shapes(config)}
    tokens, targets = rng.integers(0, vocabulary, (2, length)), rng.integers(0, vocabulary, (2, length))
    targets[ignored] = -1

    def run(values, config=config):
        p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=True) for key, a in values.items()}
        logits = forward(config, p, torch.tensor(tokens))
        loss = F.cross_entropy(logits.reshape(-1, vocabulary), torch.tensor(targets).reshape(-1), ignore_index=-1)
        loss.backward()
        return logits, loss, {key: q.grad.numpy() for key, q in p.items()}

    logits, loss, d = run(weights)
    plain, used = in_use(config, weights) if in_use else (config, weights)
    terms = {}
    for key in filter(cancels, weights):  # one bias per position, so that each has its own gradient
        each = run({**weights, key: np.tile(weights[key], (*tokens.shape, 1))})[2][key]
        terms[key] = np.abs(each).sum((0, 1))
    terms = {key: a for key, a in terms.items() if a.any()}
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/config.json", "w") as file:
        json.dump(config, file, indent=1)
    save(folder + "/model.safetensors", weights)
    case = {"tokens": tokens.astype(np.int64), "targets": targets.astype(np.int64),
            "logits": logits.detach().numpy().astype(np.float32), "loss": np.array(loss.item(), np.float32),
            "rounding": rounding(lambda values: run(values, plain)[2], used, terms)}
    case.update({"grad." + key: a.astype(np.float32) for key, a in d.items()})
    case.update({"terms." + key: a.astype(np.float32) for key, a in terms.items()})
    save(folder + "/case.safetensors", case)


def main():
    for seed, (name, (spec, changes)) in chosen(CASES):
        config = {"model_type": "gpt2", "vocab_size": V, "n_positions": T, "n_embd": C, "n_layer": L, "n_head": M,
                  "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True,
                  "bias": True,
                  **changes, "attention": spec}
        language_case(name, seed, config, shapes, forward, T)


if __name__ == "__main__":
    main()
