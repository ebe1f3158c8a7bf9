"""The attention variants and kinds from their papers' equations, in PyTorch, for the programs in this folder;
independent of the C++ code. Each variant is an entry of VARIANTS, each kind one of KINDS. make_golden.py makes a case
for a variant that has none, with the variant's name."""
import math
from dataclasses import dataclass
from typing import Callable

import torch


@dataclass
class Attention:
    """A layer's input to its attention variant: q [B, M, T, D], k and v [B, M, S, D], and the mask, [T, S] or one per
    sequence, [B, 1, T, S]. `p` has the model's parameters, the layer's with names that begin with `prefix`; `turn`
    applies rotary positions to queries or keys; `spec` is the attention object of the configuration."""
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    seen: torch.Tensor
    p: dict
    prefix: str
    layer: int
    spec: dict
    turn: Callable = lambda x: x
    scale: object = None  # None: 1 / sqrt(D)
    x: torch.Tensor = None  # the residual stream, for make_probe_golden.py

    def __post_init__(self):
        i, j = torch.arange(self.seen.shape[-2])[:, None], torch.arange(self.seen.shape[-1])
        self.kind = KINDS[self.spec.get("kind", "full")]
        self.seen = self.seen & self.kind.visible(self.spec, i, j)

    def own(self, name):
        return self.p[self.prefix + name]

    def map(self, q, k):
        """softmax over the keys that a query sees; zero for a query that sees none."""
        scale = 1 / math.sqrt(q.shape[-1]) if self.scale is None else self.scale
        weight = torch.exp(torch.einsum("bmid,bmjd->bmij", self.turn(q), self.turn(k)) * scale) * self.seen
        total = weight.sum(-1, keepdim=True)
        return weight / torch.where(total > 0, total, torch.ones_like(total))

    @property
    def values(self):
        """At the queries' own positions."""
        return self.kind.values(self)

    @property
    def o(self):
        if self.kind.o:
            return self.kind.o(self)
        return torch.einsum("bmij,bmjd->bmid", self.map(self.q, self.k), self.v)


@dataclass
class AttentionKind:
    """visible: the pairs that the kind leaves visible, from its options and the positions of queries and of keys.
    o: the result, [B, M, T, D], from the layer's input; None: softmax over the visible pairs. parameters: shapes of the
    kind's parameters by name, from its options, the number of heads and a head's width. values: those at the queries'
    own positions."""
    visible: Callable = lambda spec, i, j: torch.ones_like(i + j, dtype=torch.bool)
    o: Callable = None
    parameters: Callable = lambda spec, heads, width: {}
    values: Callable = lambda at: at.v


def window(spec, i, j):
    near = ((i - j).abs() <= spec["window"]) & ((i - j) % spec.get("dilation", 1) == 0)
    first = spec.get("global_tokens", 0)
    return near | (i < first) | (j < first)


def bigbird(spec, i, j):
    """Without random blocks, which are the C++ code's own choice; in causal models, which hide later keys."""
    assert spec["bigbird_random_blocks"] == 0
    size, first = spec["bigbird_block_size"], spec["bigbird_global_blocks"]
    i, j = i // size, j // size
    return ((i - j).abs() <= spec["bigbird_window_blocks"]) | (i < first) | (j < first)


def features(x, name):
    if name == "elu":
        return torch.where(x > 0, x + 1, torch.exp(x))
    if name == "relu":
        return torch.relu(x)
    one = torch.ones_like(x[..., :1])  # taylor: 1 + <q, k> / (|q| |k|)
    return torch.cat([one, x / torch.linalg.norm(x, dim=-1, keepdim=True)], -1)


def linear(at):
    q, k = (features(at.turn(x), at.spec.get("feature_map", "elu")) for x in (at.q, at.k))
    weight = torch.einsum("bmid,bmjd->bmij", q, k) * at.seen
    total = weight.sum(-1, keepdim=True)
    return torch.einsum("bmij,bmjd->bmid", weight / torch.where(total > 0, total, torch.ones_like(total)), at.v)


def linformer(at):
    """Keys that no query sees, which are padding, are left out of the sums."""
    read = at.seen.any(-2).unsqueeze(-1)  # [S, 1] or [B, 1, S, 1]
    e = at.own("linformer.e")[..., :at.k.shape[-2]]
    f = at.own("linformer.f")[..., :at.k.shape[-2]] if at.prefix + "linformer.f" in at.p else e
    keys, values = e @ (at.turn(at.k) * read), f @ (at.v * read)
    scores = torch.einsum("bmid,bmkd->bmik", at.turn(at.q), keys) / math.sqrt(at.q.shape[-1])
    return torch.softmax(scores, -1) @ values


def linformer_parameters(spec, heads, _):
    shape = (spec["linformer_k"], spec["linformer_length"])
    if spec.get("linformer_sharing") == "none":
        shape = (heads, *shape)
    both = {"linformer.e": shape, "linformer.f": shape}
    return {"linformer.e": shape} if spec.get("linformer_sharing") == "key_value" else both


def longformer_window(spec, i, j):
    first = spec["longformer_global_tokens"]
    return ((i - j).abs() <= spec["longformer_window"]) | (i < first) | (j < first)


def of_globals(at, name):
    """A map of a layer's input by the global tokens' own weights, [B, M, T, D]."""
    y = torch.einsum("bti,oi->bto", at.x, at.own(name + "_global.weight")) + at.own(name + "_global.bias")
    return y.view(*y.shape[:2], at.q.shape[1], -1).permute(0, 2, 1, 3)


def first_from(at, first, rest):
    """Rows of the global tokens from `first`, the others from `rest`."""
    positions = torch.arange(rest.shape[-2])[:, None]
    return torch.where(positions < at.spec["longformer_global_tokens"], first, rest)


def longformer(at):
    local = torch.einsum("bmij,bmjd->bmid", at.map(at.q, at.k), at.v)
    return first_from(at, at.map(of_globals(at, "query"), of_globals(at, "key")) @ of_globals(at, "value"), local)


def longformer_parameters(_, heads, width):
    shapes = {"weight": (heads * width, heads * width), "bias": (heads * width,)}
    return {f"{name}_global.{part}": shape for name in ("query", "key", "value") for part, shape in shapes.items()}


KINDS = {
    "full": AttentionKind(),
    "window": AttentionKind(visible=window),
    "longformer": AttentionKind(visible=longformer_window, o=longformer, parameters=longformer_parameters,
                                values=lambda at: first_from(at, of_globals(at, "value"), at.v)),
    "bigbird": AttentionKind(visible=bigbird),
    "linear": AttentionKind(o=linear),
    "linformer": AttentionKind(o=linformer, parameters=linformer_parameters),
}


@dataclass
class AttentionVariant:
    """signals: inputs of the first output map and, if there is one, of the second, [B, M, T, D] or [B, T, M·D].
    parameters: shapes of the variant's parameters by name, as a function of the number of heads and a head's width."""
    signals: Callable
    parameters: Callable = lambda heads, width: {}
    second: bool = False


def rows(x):
    """Concatenates the heads of [B, M, T, D]: [B, T, M·D]."""
    return x.permute(0, 2, 1, 3).flatten(2) if x.ndim == 4 else x


def perpendicular(o, v):
    return o - (o * v).sum(-1, keepdim=True) / (v * v).sum(-1, keepdim=True) * v


def difference(at):
    gamma = at.spec.get("gamma", 1.0)
    return at.values - gamma * at.o if at.spec["gamma_on"] == "sum" else gamma * at.values - at.o


def differential(at):
    """Difference of two attention maps of half heads over the same values, normalised (arXiv 2410.05258, eq 1-3)."""
    start = 0.8 - 0.6 * math.exp(-0.3 * at.layer)
    dots = [(at.own(f"lambda_q{i}") * at.own(f"lambda_k{i}")).sum() for i in (1, 2)]
    scale = torch.exp(dots[0]) - torch.exp(dots[1]) + start
    maps = [at.map(q, k) for q, k in zip(at.q.chunk(2, -1), at.k.chunk(2, -1))]
    o = torch.einsum("bmij,bmjd->bmid", maps[0] - scale * maps[1], at.v)
    return (1 - start) * o / torch.sqrt((o * o).mean(-1, keepdim=True) + 1e-5) * at.own("subln.weight")


def differential_parameters(_, width):
    lambdas = {f"lambda_{name}": (width // 2,) for name in ("q1", "k1", "q2", "k2")}
    return {**lambdas, "subln.weight": (width,)}


VARIANTS = {
    "standard": AttentionVariant(lambda at: (at.o,)),
    "attentionx": AttentionVariant(lambda at: (difference(at),)),
    "belief": AttentionVariant(lambda at: (perpendicular(rows(at.o), rows(at.values)),)),
    "belief-head": AttentionVariant(lambda at: (perpendicular(at.o, at.values),)),
    "belief-star": AttentionVariant(lambda at: (perpendicular(rows(at.o), rows(at.values)),
                                               perpendicular(at.o, at.values)),
                                    second=True),
    "concat": AttentionVariant(lambda at: (at.o, at.values), second=True),
    "differential": AttentionVariant(lambda at: (differential(at),), differential_parameters),
}


def variant_of(config):
    return VARIANTS[config["attention"]["variant"]]


def attention_parameters(config, heads, width):
    """Shapes of the parameters of a layer's variant and kind."""
    spec = config["attention"]
    kind = KINDS[spec.get("kind", "full")]
    return {**variant_of(config).parameters(heads, width), **kind.parameters(spec, heads, width)}


def causal(length):
    return torch.tril(torch.ones(length, length, dtype=torch.bool))


WATCHERS = []  # functions that are called with every layer's input


def signals(config, attention):
    """Inputs of the output maps, [B, T, M·D] each: one tensor or two."""
    for watch in WATCHERS:
        watch(attention)
    return [rows(x) for x in variant_of(config).signals(attention)]
