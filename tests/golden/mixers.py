"""The attention variants by their papers' equations, in PyTorch, for the programs beside this file: independent of the
C++ code, and one entry of MIXERS each. A variant without a case in make_golden.py gets one there under its own name."""
import math
from dataclasses import dataclass
from typing import Callable

import torch


@dataclass
class Attention:
    """What a layer gives its mixer: q, k, v [B, M, T, D] and who sees whom, [T, T]. `p` are the model's parameters, the
    layer's behind `prefix`; `turn` turns queries or keys by their positions; `spec` is the configuration's object."""
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    seen: torch.Tensor
    p: dict
    prefix: str
    layer: int
    spec: dict
    turn: Callable = lambda x: x
    scale: object = None  # else 1 / sqrt(D)

    def own(self, name):
        return self.p[self.prefix + name]

    def map(self, q, k):
        """softmax of what is seen; a row that sees nothing is zero."""
        scale = 1 / math.sqrt(q.shape[-1]) if self.scale is None else self.scale
        weight = torch.exp(torch.einsum("bmid,bmjd->bmij", self.turn(q), self.turn(k)) * scale) * self.seen
        total = weight.sum(-1, keepdim=True)
        return weight / torch.where(total > 0, total, torch.ones_like(total))

    @property
    def o(self):
        return torch.einsum("bmij,bmjd->bmid", self.map(self.q, self.k), self.v)


@dataclass
class Mixer:
    """signals: what feeds the first output map and, if there is one, the second, [B, M, T, D] or [B, T, M·D].
    parameters: shapes of its own by their names, of the number of heads and the width of one."""
    signals: Callable
    parameters: Callable = lambda heads, width: {}
    second: bool = False


def rows(x):
    """[B, M, T, D]: heads side by side, [B, T, M·D]."""
    return x.permute(0, 2, 1, 3).flatten(2) if x.ndim == 4 else x


def perpendicular(o, v):
    return o - (o * v).sum(-1, keepdim=True) / (v * v).sum(-1, keepdim=True) * v


def difference(at):
    gamma = at.spec.get("gamma", 1.0)
    return at.v - gamma * at.o if at.spec["gamma_on"] == "sum" else gamma * at.v - at.o


def differential(at):
    """Two maps of half heads over the same values, their difference and its norm (arXiv 2410.05258, eq 1-3)."""
    start = 0.8 - 0.6 * math.exp(-0.3 * at.layer)
    dots = [(at.own(f"lambda_q{i}") * at.own(f"lambda_k{i}")).sum() for i in (1, 2)]
    scale = torch.exp(dots[0]) - torch.exp(dots[1]) + start
    maps = [at.map(q, k) for q, k in zip(at.q.chunk(2, -1), at.k.chunk(2, -1))]
    o = torch.einsum("bmij,bmjd->bmid", maps[0] - scale * maps[1], at.v)
    return (1 - start) * o / torch.sqrt((o * o).mean(-1, keepdim=True) + 1e-5) * at.own("subln.weight")


def differential_parameters(_, width):
    lambdas = {f"lambda_{name}": (width // 2,) for name in ("q1", "k1", "q2", "k2")}
    return {**lambdas, "subln.weight": (width,)}


MIXERS = {
    "standard": Mixer(lambda at: (at.o,)),
    "attentionx": Mixer(lambda at: (difference(at),)),
    "belief": Mixer(lambda at: (perpendicular(rows(at.o), rows(at.v)),)),
    "belief-head": Mixer(lambda at: (perpendicular(at.o, at.v),)),
    "belief-star": Mixer(lambda at: (perpendicular(rows(at.o), rows(at.v)), perpendicular(at.o, at.v)), second=True),
    "concat": Mixer(lambda at: (at.o, at.v), second=True),
    "differential": Mixer(lambda at: (differential(at),), differential_parameters),
}


def mixer(config):
    return MIXERS[config["attention"]["variant"]]


def causal(length):
    return torch.tril(torch.ones(length, length, dtype=torch.bool))


def signals(config, attention):
    """What the output maps get, [B, T, M·D] each: one tensor or two."""
    return [rows(x) for x in mixer(config).signals(attention)]
