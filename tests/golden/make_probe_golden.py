#!/usr/bin/python3
"""Makes probes/CASE.safetensors for some golden cases: tensors of every self-attention layer, as vkformer's taps name
them, and their statistics, in PyTorch's float64.

  tests/golden/make_probe_golden.py        (Debian's python3-torch and python3-numpy)

A file has tap.LAYER.NAME; statistic.LAYER.NAME, the mean over the first tokens of all rows, and over all tokens;
spectrum.LAYER, the cumulative energy of the singular values of each head's weights, mean over the rows; loss; and
loss_without.LAYER, the loss with the output of each head zeroed alone.
Written from the papers' equations, independently of the C++ code."""
import json
import os
import struct

import numpy as np
import torch

import make_bert_golden
import make_golden
import make_llama_golden
from variants import WATCHERS, perpendicular, rows, signals

HERE = os.path.dirname(os.path.abspath(__file__))
# The program that made a case, and the weight of a layer's output map as a function of the parameters, [in, out].
CASES = {
    **{name: (make_golden, lambda p, layer: p[layer + "c_proj.weight"])
       for name in ("standard", "attentionx-sum", "attentionx-value", "belief-star", "concat")},
    "llama-belief": (make_llama_golden, lambda p, layer: p[layer + "o_proj.weight"].T),
    "bert-belief-star": (make_bert_golden, lambda p, layer: p[layer + "output.dense.weight"].T),
}


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    kinds = {"F32": np.float32, "I64": np.int64}
    return {name: np.frombuffer(data[slice(*at["data_offsets"])], kinds[at["dtype"]]).reshape(at["shape"])
            for name, at in header.items() if name != "__metadata__"}


def both(values):
    """Mean over the first tokens and over all tokens of values [B, T], of which some may be nan."""
    return np.array([np.nanmean(values[:, 0]) if not np.isnan(values[:, 0]).all() else np.nan, np.nanmean(values)])


def angle(a, b):
    cosine = (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))
    return torch.rad2deg(torch.acos(cosine.clamp(-1, 1)))


def statistics(at, o, v, taps):
    """Of one layer. Tokens that see nothing do not count; a vector of rounding errors has no angle."""
    counts = o.norm(dim=-1) > 0
    delta = perpendicular(o, v)
    directed = counts & (delta.norm(dim=-1) > 1e-6 * o.norm(dim=-1))
    heads = lambda x: x.unflatten(-1, (at.q.shape[1], -1))
    cosine = torch.nn.functional.cosine_similarity(heads(o), heads(v), -1).mean(-1)
    weights = taps["attention_weights"]
    entropy = -torch.where(weights > 0, weights * weights.clamp(min=1e-300).log(), 0 * weights).sum(-1).mean(1)
    phi = taps["signal"] if at.spec["variant"] == "attentionx" else v - o
    energy = torch.linalg.svdvals(weights).pow(2)
    reached = energy.cumsum(-1) >= 0.9 * energy.sum(-1, keepdim=True)
    rank = (reached.shape[-1] - reached.sum(-1) + 1).double().mean().item()
    of = {
        "mh_norm": (o.norm(dim=-1), counts), "delta_norm": (delta.norm(dim=-1), counts),
        "mh_output_norm": (taps["attended_map"].norm(dim=-1), counts),
        "delta_output_norm": (taps["perpendicular_map"].norm(dim=-1), counts),
        "mh_output_angle": (angle(taps["attended_map"], taps["residual"]), counts),
        "delta_output_angle": (angle(taps["perpendicular_map"], taps["residual"]), directed),
        "phi_norm": (phi.norm(dim=-1), counts), "value_cosine": (cosine, counts),
        "self_weight": (weights.diagonal(dim1=-2, dim2=-1).mean(1), counts), "entropy": (entropy, counts),
    }
    made = {name: both(np.where(used.numpy(), x.numpy(), np.nan)) for name, (x, used) in of.items()}
    made["rank"] = np.array([np.nan, rank])
    return made


def spectrum(weights):
    energy = torch.linalg.svdvals(weights).pow(2)
    return (energy.cumsum(-1) / energy.sum(-1, keepdim=True)).mean(0)


def loss_without(program, config, p, case, layer=None, head=0):
    """Loss with the signals of a head of a layer set to zero; of the whole model without a layer."""
    plain = program.signals

    def pruned(config, at):
        made = plain(config, at)
        if at.prefix != layer:
            return made
        width, heads = made[0].shape[-1] // at.q.shape[1], torch.arange(made[0].shape[-1])
        kept = (heads // width != head).double()
        return [x * kept for x in made]

    program.signals = pruned
    logits = program.forward(config, p, torch.tensor(case["tokens"]))
    program.signals = plain
    targets = torch.tensor(case["targets"]).long().flatten()
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets, ignore_index=-1).item()


def main():
    os.makedirs(os.path.join(HERE, "probes"), exist_ok=True)
    for name, (program, output_map) in CASES.items():
        with open(os.path.join(HERE, name, "config.json")) as file:
            config = json.load(file)
        p = {key: torch.tensor(a, dtype=torch.float64)
             for key, a in load(os.path.join(HERE, name, "model.safetensors")).items()}
        case = load(os.path.join(HERE, name, "case.safetensors"))
        layers = []
        WATCHERS[:] = [layers.append]
        program.forward(config, p, torch.tensor(case["tokens"]))
        WATCHERS.clear()
        made = {"loss": np.array([loss_without(program, config, p, case)], np.float32)}
        for at in layers:
            o, v, w = rows(at.o), rows(at.v), output_map(p, at.prefix)
            taps = {"residual": at.x, "signal": signals(config, at)[0], "values": v, "attended": o,
                    "attended_map": o @ w, "perpendicular_map": perpendicular(o, v) @ w,
                    "attention_weights": at.map(at.q, at.k)}
            layer = at.prefix[:-1]
            made.update({f"tap.{layer}.{key}": x.numpy().astype(np.float32) for key, x in taps.items()})
            made.update({f"statistic.{layer}.{key}": x.astype(np.float32)
                         for key, x in statistics(at, o, v, taps).items()})
            made["spectrum." + layer] = spectrum(taps["attention_weights"]).numpy().astype(np.float32)
            made["loss_without." + layer] = np.array(
                [loss_without(program, config, p, case, at.prefix, head) for head in range(at.q.shape[1])], np.float32)
        make_golden.save(os.path.join(HERE, "probes", name + ".safetensors"), made)


if __name__ == "__main__":
    main()
