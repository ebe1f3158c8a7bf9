#!/usr/bin/python3
"""Makes the golden cases marian-…: small transformers of an encoder and a decoder, in float64.

  tests/golden/make_translation_golden.py [CASE...]        (Debian's python3-torch and python3-numpy)

Each folder is a model directory with Hugging Face's Marian names and a case.safetensors: source_tokens [B, S],
source_lengths [B], tokens and targets [B, T], target_lengths [B], label_smoothing [1], logits [B, T, V] (zeros at
padding), loss (mean over real targets), grad.NAME for every parameter, and `rounding` as in make_golden.py. Padding has
arbitrary tokens, and targets -1. Cases with beam.json have the results of beam_search.py for every row: `greedy`, the
five best of beam search with five beams (`beam`) and its number of steps, and for marian-tiny the five best of all
sequences of up to 4 tokens (`exhaustive`). Sequences are the generated tokens, with eos and without the decoder's start
token; `sum` is their log-probability, `score` is sum / length^alpha.
Written from Vaswani et al. 2017 and the variants' equations, independently of the C++ code."""
import json
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

import beam_search
from make_golden import HERE, chosen, rounding, save
from variants import Attention, attention_parameters, causal, rows, signals, variant_of

B, S, T = 3, 7, 6
BEAMS, ALPHA, MARGIN = 5, 1.0, 1e-3
SHARED = {"share_encoder_decoder_embeddings": True, "tie_word_embeddings": True, "decoder_vocab_size": 11}
TIED = {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": True, "decoder_vocab_size": 13}
UNTIED = {**TIED, "tie_word_embeddings": False}
PRE, POST = {"normalize_before": True}, {"normalize_before": False}
MARIAN, PAPER = {"position_embedding_type": "sinusoidal"}, {"position_embedding_type": "sinusoidal_interleaved"}
LEARNED = {"position_embedding_type": "learned", "max_position_embeddings": 8, "scale_embedding": False}
EVEN = {"d_model": 16, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
UNEVEN = {"encoder_layers": 1, "decoder_layers": 2}
TINY = {"vocab_size": 5, "decoder_vocab_size": 5, "encoder_layers": 1, "decoder_layers": 1}
# Attention object, changes to BASE, label smoothing, random seed. Seeds of cases with a beam.json are chosen so that no
# decision of a search is nearer than MARGIN.
CASES = {
    "marian-standard": ({"variant": "standard"}, {**POST, **SHARED, **MARIAN, "activation_function": "swish"}, 0.1, 4),
    "marian-pre": ({"variant": "standard"}, {**PRE, **SHARED, **PAPER, **EVEN}, 0.1, 1),
    "marian-vocabularies": ({"variant": "standard"}, {**POST, **TIED, **PAPER}, 0.1, 1),
    "marian-untied": ({"variant": "standard"}, {**PRE, **UNTIED, **LEARNED, **UNEVEN, "activation_function": "gelu"},
                      0.0, 3),
    "marian-learned": ({"variant": "standard"}, {**POST, **SHARED, **LEARNED, "activation_function": "gelu_new"}, 0.1,
                       4),
    "marian-attentionx": ({"variant": "attentionx", "gamma": 3.0, "gamma_on": "sum"}, {**POST, **SHARED, **PAPER}, 0.1,
                          5),
    "marian-belief": ({"variant": "belief"}, {**PRE, **TIED, **LEARNED}, 0.0, 6),
    "marian-belief-head": ({"variant": "belief-head"},
                           {**POST, **UNTIED, **MARIAN, **UNEVEN, "activation_function": "swish"}, 0.1, 7),
    "marian-belief-star": ({"variant": "belief-star"}, {**PRE, **SHARED, **MARIAN}, 0.1, 1),
    "marian-belief-star-post": ({"variant": "belief-star"}, {**POST, **UNTIED, **PAPER, **EVEN, **UNEVEN}, 0.0, 9),
    "marian-concat": ({"variant": "concat"}, {**POST, **TIED, **LEARNED, "activation_function": "gelu"}, 0.1, 10),
    "marian-differential": ({"variant": "differential"},
                            {**PRE, **SHARED, **PAPER, "activation_function": "swish"}, 0.1, 11),
    "marian-tiny": ({"variant": "standard"}, {**POST, **SHARED, **MARIAN, **TINY}, 0.0, 7),
}
# Largest number of generated tokens (None: twice the source's length and 10) and updates of a training.
SEARCHED = {"marian-standard": (None, 400), "marian-vocabularies": (None, 400), "marian-belief-star": (None, 400),
            "marian-tiny": (4, 200)}
BASE = {"model_type": "marian", "vocab_size": 11, "decoder_vocab_size": 11, "d_model": 12, "encoder_layers": 2,
        "decoder_layers": 2, "encoder_attention_heads": 3, "decoder_attention_heads": 2, "encoder_ffn_dim": 14,
        "decoder_ffn_dim": 18, "max_position_embeddings": 32, "activation_function": "relu", "scale_embedding": True,
        "share_encoder_decoder_embeddings": True, "tie_word_embeddings": True, "normalize_before": False,
        "position_embedding_type": "sinusoidal", "eos_token_id": 0, "pad_token_id": 1, "decoder_start_token_id": 1}


def sinusoid(interleaved, length, width):
    """Position t's elements are sin and cos of t / 10000^(2k / width), alternately or first all sines."""
    table = torch.zeros(length, width, dtype=torch.float64)
    for t in range(length):
        for k in range(width // 2):
            angle = t / 10000 ** (2 * k / width)
            sine, cosine = (2 * k, 2 * k + 1) if interleaved else (k, width // 2 + k)
            table[t, sine], table[t, cosine] = math.sin(angle), math.cos(angle)
    return table


ACTIVATIONS = {"relu": lambda x: torch.where(x > 0, x, torch.zeros_like(x)),
               "swish": lambda x: x / (1 + torch.exp(-x)),
               "gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
               "gelu_new": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))}


class Transformer:
    """An encoder and a decoder of a configuration, with parameters p."""

    def __init__(self, config, p):
        self.config, self.p = config, p

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdim=True)
        unit = centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)
        return unit * self.p[name + ".weight"] + self.p[name + ".bias"]

    def linear(self, x, name):
        y = x @ self.p[name + ".weight"].T
        return y + self.p[name + ".bias"] if name + ".bias" in self.p else y

    def embedded(self, stack, tokens):
        own = self.p.get("model.shared.weight", self.p.get(f"model.{stack}.embed_tokens.weight"))
        x = own[tokens] * (math.sqrt(own.shape[1]) if self.config["scale_embedding"] else 1.0)
        kind = self.config["position_embedding_type"]
        if kind == "learned":
            return x + self.p[f"model.{stack}.embed_positions.weight"][:tokens.shape[1]]
        return x + sinusoid(kind == "sinusoidal_interleaved", *x.shape[1:])

    def residual(self, x, norm, branch):
        """x + branch(norm(x)) or, as published, norm(x + branch(x))."""
        if self.config["normalize_before"]:
            return x + branch(self.norm(x, norm))
        return self.norm(x + branch(x), norm)

    def attended(self, prefix, heads, layer, queries, keys, seen, spec):
        """Attention of the rows of `queries` over those of `keys`, by the variant of `spec`."""
        q, k, v = (self.linear(x, prefix + name).unflatten(-1, (heads, -1)).permute(0, 2, 1, 3)
                   for name, x in (("q_proj", queries), ("k_proj", keys), ("v_proj", keys)))
        at = Attention(q, k, v, seen, self.p, prefix, layer, spec)
        maps = zip(signals({"attention": spec}, at), ("out_proj", "out_proj_s"))
        return sum(self.linear(signal, prefix + name) for signal, name in maps)

    def stack(self, stack, x, seen, memory=None, real=None):
        """All layers of the encoder or the decoder. Decoders also attend to `memory` where `real`."""
        for i in range(self.config[stack + "_layers"]):
            layer, heads = f"model.{stack}.layers.{i}.", self.config[stack + "_attention_heads"]
            x = self.residual(x, layer + "self_attn_layer_norm", lambda y: self.attended(
                layer + "self_attn.", heads, i, y, y, seen, self.config["attention"]))
            if memory is not None:
                x = self.residual(x, layer + "encoder_attn_layer_norm", lambda y: self.attended(
                    layer + "encoder_attn.", heads, i, y, memory, real, {"variant": "standard"}))
            inner = ACTIVATIONS[self.config["activation_function"]]
            x = self.residual(x, layer + "final_layer_norm", lambda y: self.linear(
                inner(self.linear(y, layer + "fc1")), layer + "fc2"))
        return self.norm(x, f"model.{stack}.layer_norm") if self.config["normalize_before"] else x

    def logits(self, source, source_lengths, tokens):
        real = (torch.arange(source.shape[1]) < source_lengths[:, None])[:, None, None]
        memory = self.stack("encoder", self.embedded("encoder", source), real)
        x = self.stack("decoder", self.embedded("decoder", tokens), causal(tokens.shape[1]), memory, real)
        target = "model.shared.weight" if "model.shared.weight" in self.p else "model.decoder.embed_tokens.weight"
        logits = x @ self.p["lm_head.weight" if "lm_head.weight" in self.p else target].T
        return logits + self.p["final_logits_bias"] if "final_logits_bias" in self.p else logits


def loss_of(logits, targets, smoothing):
    """Mean over targets >= 0, with PyTorch's label smoothing: targets are (1 - smoothing) · one-hot + smoothing / V."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1, label_smoothing=smoothing)


def transformer_shapes(config):
    C, vocabularies = config["d_model"], (config["vocab_size"], config["decoder_vocab_size"])
    if config["share_encoder_decoder_embeddings"]:
        yield "model.shared.weight", (vocabularies[0], C)
    for stack, vocabulary in zip(("encoder", "decoder"), vocabularies):
        if not config["share_encoder_decoder_embeddings"]:
            yield f"model.{stack}.embed_tokens.weight", (vocabulary, C)
        if config["position_embedding_type"] == "learned":
            yield f"model.{stack}.embed_positions.weight", (config["max_position_embeddings"], C)
        inner, heads = config[stack + "_ffn_dim"], config[stack + "_attention_heads"]
        for i in range(config[stack + "_layers"]):
            layer = f"model.{stack}.layers.{i}."
            attentions = ("self_attn",) if stack == "encoder" else ("self_attn", "encoder_attn")
            maps = [(f"{attention}.{name}_proj", (C, C)) for attention in attentions for name in ("q", "k", "v", "out")]
            for name, shape in maps + [("fc1", (inner, C)), ("fc2", (C, inner))]:
                yield layer + name + ".weight", shape
                yield layer + name + ".bias", shape[:1]
            if variant_of(config).second:
                yield layer + "self_attn.out_proj_s.weight", (C, C)
            for name, shape in attention_parameters(config, heads, C // heads).items():
                yield layer + "self_attn." + name, shape
            for name in attentions + ("final",):
                yield layer + name + "_layer_norm.weight", (C,)
                yield layer + name + "_layer_norm.bias", (C,)
        if config["normalize_before"]:
            yield f"model.{stack}.layer_norm.weight", (C,)
            yield f"model.{stack}.layer_norm.bias", (C,)
    if not config["tie_word_embeddings"]:
        yield "lm_head.weight", (vocabularies[1], C)


def random_weights(shapes, rng):
    return {key: (rng.normal(0, 0.3, shape) + (1 if len(shape) == 1 and key.endswith("weight") else 0))
            .astype(np.float32) for key, shape in shapes}


def random_batch(config, rng):
    """Rows of unequal lengths: in each language a whole one and one of a single token, in random order."""
    sources, targets = config["vocab_size"], config["decoder_vocab_size"]
    batch = {"source_tokens": rng.integers(0, sources, (B, S)),
             "source_lengths": rng.permutation([S, 1, int(rng.integers(2, S))]),
             "tokens": rng.integers(0, targets, (B, T)),
             "target_lengths": rng.permutation([T, 1, int(rng.integers(2, T))]),
             "targets": rng.integers(0, targets, (B, T))}
    batch["targets"][np.arange(T) >= batch["target_lengths"][:, None]] = -1
    return {key: a.astype(np.int32) for key, a in batch.items()}


def run(family, config, batch, smoothing, values):
    """Logits with zeros at padding, loss, and gradients by name."""
    p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=True) for key, a in values.items()}
    indices = {key: torch.tensor(a, dtype=torch.int64) for key, a in batch.items()}
    logits = family(config, p).logits(indices["source_tokens"], indices["source_lengths"], indices["tokens"])
    loss = loss_of(logits, indices["targets"], float(smoothing))
    loss.backward()
    real = (batch["targets"] >= 0)[..., None]
    return np.where(real, logits.detach().numpy(), 0.0), loss.item(), {key: q.grad.numpy() for key, q in p.items()}


def require_unread_padding(family, config, batch, smoothing, weights, rng):
    """Other tokens at padding change no result by a bit. If padding were read, results would change."""
    logits, loss, d = run(family, config, batch, smoothing, weights)
    changed = {key: a.copy() for key, a in batch.items()}
    for name, lengths, vocabulary in (("source_tokens", "source_lengths", config["vocab_size"]),
                                      ("tokens", "target_lengths", config["decoder_vocab_size"])):
        padding = np.arange(batch[name].shape[1]) >= batch[lengths][:, None]
        changed[name][padding] = (changed[name][padding] + rng.integers(1, vocabulary, padding.sum())) % vocabulary
    other_logits, other_loss, other_d = run(family, config, changed, smoothing, weights)
    assert loss == other_loss and np.array_equal(logits, other_logits)
    assert all(np.array_equal(d[key], other_d[key]) for key in d)
    read = run(family, config, {**batch, "source_lengths": np.full(B, S)}, smoothing, weights)[0]
    for row in range(B):
        least = 0 if batch["source_lengths"][row] == S else 1e-3
        assert np.linalg.norm(read[row] - logits[row]) >= least * np.linalg.norm(logits[row]), row


def trained(family, config, weights, rng, longest, updates):
    """Weights after a short training, so that texts end and depend on their sources. The target is the source
    backwards, of which at most longest - 1 tokens, in which one of ten is replaced, and eos."""
    p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=True) for key, a in weights.items()}
    model, optimizer = family(config, p), torch.optim.Adam(p.values(), lr=5e-3)
    count, own = 24, config["decoder_vocab_size"]
    for _ in range(updates):
        source, lengths = rng.integers(0, config["vocab_size"], (count, S)), rng.integers(1, S + 1, count)
        targets = np.full((count, S + 1), -1)
        for b, length in enumerate(lengths):
            backwards = source[b, :length][::-1][:longest - 1]
            targets[b, :len(backwards)] = 2 + backwards % (own - 2)  # 0 is eos, 1 is the start token
            targets[b, len(backwards)] = config["eos_token_id"]
        noisy = (rng.random(targets.shape) < 0.1) & (targets > 1)
        targets[noisy] = rng.integers(2, own, noisy.sum())
        tokens = np.concatenate([np.full((count, 1), config["decoder_start_token_id"]), targets[:, :-1]], 1)
        logits = model.logits(*(torch.tensor(a) for a in (source, lengths, tokens.clip(min=0))))
        optimizer.zero_grad()
        loss_of(logits, torch.tensor(targets), 0.0).backward()
        optimizer.step()
    return {key: q.detach().numpy().astype(np.float32) for key, q in p.items()}


def listed(hypotheses):
    return [{"tokens": list(one.tokens), "sum": one.sum, "score": one.score} for one in hypotheses]


def searched(family, config, batch, weights, longest):
    """Results of the searches for each row of the sources, and the least margin of all. A row is computed alone."""
    model = family(config, {key: torch.tensor(a, dtype=torch.float64) for key, a in weights.items()})
    start, eos, found, margins = config["decoder_start_token_id"], config["eos_token_id"], [], []
    for tokens, length in zip(batch["source_tokens"], batch["source_lengths"].tolist()):
        source, most = torch.tensor(tokens[:length], dtype=torch.int64)[None], longest or 2 * length + 10

        def likelihoods(prefixes):
            count = len(prefixes)
            logits = model.logits(source.expand(count, -1), torch.full((count,), length), torch.tensor(prefixes))
            return torch.log_softmax(logits[:, -1], -1).numpy()

        first, least = beam_search.greedy(likelihoods, start, eos, most)
        best, steps, margin = beam_search.beam(likelihoods, start, eos, BEAMS, most, ALPHA)
        margins += [least, margin]
        row = {"source": source[0].tolist(), "max_length": most, "greedy": list(first.tokens), "steps": steps,
               "beam": listed(best)}
        if longest:
            vocabulary = config["decoder_vocab_size"]
            every, least = beam_search.exhaustive(likelihoods, start, eos, vocabulary, BEAMS, most, ALPHA)
            margins.append(least)
            row["exhaustive"] = listed(every)
            # A beam that holds all sequences finds what the exhaustive search finds; a narrow one here finds the best.
            wide = beam_search.beam(likelihoods, start, eos, vocabulary**most, most, ALPHA)[0]
            assert [one.tokens for one in every] == [one.tokens for one in wide[:BEAMS]]
            assert every[0].tokens == best[0].tokens
        # Searches differ in whether they count open hypotheses of the greatest length: here none is among the best.
        assert all(one["tokens"][-1] == eos for one in row["beam"] + row.get("exhaustive", []))
        found.append(row)
    return {"beams": BEAMS, "alpha": ALPHA, "rows": found}, min(margins)


def make(name, family, shapes, config, smoothing, rng, search):
    """A case of a family: a class with a function of logits. `search` is None or an entry of SEARCHED."""
    weights, batch, smoothing = random_weights(shapes, rng), random_batch(config, rng), np.float32(smoothing)
    longest, updates = search or (None, 0)
    if updates:
        weights = trained(family, config, weights, rng, longest or S + 1, updates)
    require_unread_padding(family, config, batch, smoothing, weights, rng)
    logits, loss, d = run(family, config, batch, smoothing, weights)
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/config.json", "w") as file:
        json.dump(config, file, indent=1)
    save(folder + "/model.safetensors", weights)
    case = {**batch, "label_smoothing": np.array([smoothing]), "logits": logits.astype(np.float32),
            "loss": np.array(loss, np.float32),
            "rounding": rounding(lambda values: run(family, config, batch, smoothing, values)[2], weights)}
    case.update({"grad." + key: a.astype(np.float32) for key, a in d.items()})
    save(folder + "/case.safetensors", case)
    if search:
        found, margin = searched(family, config, batch, weights, longest)
        assert margin > MARGIN, margin
        with open(folder + "/beam.json", "w") as file:
            file.write(json.dumps(found).replace(' {"source"', '\n{"source"') + "\n")


def main():
    for _, (name, (spec, changes, smoothing, seed)) in chosen(CASES):
        config = {**BASE, **changes, "attention": spec}
        make(name, Transformer, transformer_shapes(config), config, smoothing, np.random.default_rng(seed),
             SEARCHED.get(name))


if __name__ == "__main__":
    main()
