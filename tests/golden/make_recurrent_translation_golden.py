#!/usr/bin/python3
"""Makes the golden cases recurrent-…: small recurrent encoders and decoders with attention, in float64.

  tests/golden/make_recurrent_translation_golden.py [CASE...]        (Debian's python3-torch and python3-numpy)

Files are those of make_translation_golden.py. Every row is computed alone, without its padding. Written from the
equations of Elman, Hochreiter and Schmidhuber, Cho et al., Bahdanau et al. and Luong et al., independently of the C++
code and of PyTorch's recurrent layers."""
import numpy as np
import torch

from make_golden import chosen
from make_translation_golden import make

SHARED = {"share_encoder_decoder_embeddings": True, "decoder_vocab_size": 11}
SEPARATE = {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 13}
UNTIED = {"tie_word_embeddings": False}
ONE_WAY, TWO_WAYS = {"bidirectional": False}, {"bidirectional": True}
DEEP, FED = {"num_layers": 2}, {"input_feeding": True}
GATES = {"rnn": 1, "lstm": 4, "gru": 3}
SCORES = ("dot", "general", "low_rank", "additive")
# Cell, score, changes to BASE, label smoothing, random seed. Seeds of cases with a beam.json are chosen so that no
# decision of a search is nearer than MARGIN.
CASES = {
    "recurrent-rnn-dot": ("rnn", "dot", {**ONE_WAY, **SHARED}, 0.1, 1),
    "recurrent-rnn-general": ("rnn", "general", {**TWO_WAYS, **SEPARATE}, 0.0, 2),
    "recurrent-rnn-low-rank": ("rnn", "low_rank", {**TWO_WAYS, **SHARED, **DEEP}, 0.1, 23),
    "recurrent-rnn-additive": ("rnn", "additive", {**ONE_WAY, **SEPARATE, **UNTIED, **FED}, 0.0, 4),
    "recurrent-lstm-dot": ("lstm", "dot", {**TWO_WAYS, **SEPARATE, **DEEP}, 0.1, 5),
    "recurrent-lstm-general": ("lstm", "general", {**TWO_WAYS, **SHARED}, 0.1, 20),
    "recurrent-lstm-low-rank": ("lstm", "low_rank", {**TWO_WAYS, **SHARED, **FED, "score_rank": 3}, 0.0, 7),
    "recurrent-lstm-additive": ("lstm", "additive", {**ONE_WAY, **SEPARATE, **UNTIED, **DEEP}, 0.1, 8),
    "recurrent-lstm-fed": ("lstm", "general", {**TWO_WAYS, **SEPARATE, **DEEP, **FED}, 0.1, 9),
    "recurrent-gru-dot": ("gru", "dot", {**ONE_WAY, **SHARED, **UNTIED, **FED}, 0.1, 10),
    "recurrent-gru-general": ("gru", "general", {**ONE_WAY, **SEPARATE, **DEEP}, 0.0, 11),
    "recurrent-gru-low-rank": ("gru", "low_rank", {**TWO_WAYS, **SEPARATE, **UNTIED, "score_rank": 5}, 0.1, 12),
    "recurrent-gru-additive": ("gru", "additive", {**TWO_WAYS, **SHARED, **FED, "score_rank": 6}, 0.1, 13),
}
SEARCHED = {"recurrent-lstm-general": (None, 200), "recurrent-gru-additive": (None, 200),
            "recurrent-rnn-low-rank": (None, 200)}
BASE = {"model_type": "rnn-encoder-decoder", "vocab_size": 11, "decoder_vocab_size": 11, "context_length": 32,
        "hidden_size": 10, "num_layers": 1, "cell": "lstm", "bidirectional": True, "attention_score": "general",
        "score_rank": 0, "input_feeding": False, "share_encoder_decoder_embeddings": True, "tie_word_embeddings": True,
        "eos_token_id": 0, "decoder_start_token_id": 1}


class Recurrent:
    """An encoder and a decoder of a configuration, with parameters p. A state is [h] or, of an LSTM, [h, c]."""

    def __init__(self, config, p):
        self.config, self.p = config, p

    def step(self, layer, x, state):
        """One step of a cell: x [C] and a state of [H]."""
        p, (before, name) = self.p, layer
        of_x = p[f"{before}weight_ih_{name}"] @ x + p[f"{before}bias_ih_{name}"]
        of_h = p[f"{before}weight_hh_{name}"] @ state[0] + p[f"{before}bias_hh_{name}"]
        if self.config["cell"] == "rnn":
            return [torch.tanh(of_x + of_h)]
        if self.config["cell"] == "lstm":
            write, forget, new, read = (of_x + of_h).chunk(4)
            c = torch.sigmoid(forget) * state[1] + torch.sigmoid(write) * torch.tanh(new)
            return [torch.sigmoid(read) * torch.tanh(c), c]
        (r_x, z_x, n_x), (r_h, z_h, n_h) = of_x.chunk(3), of_h.chunk(3)
        z = torch.sigmoid(z_x + z_h)
        return [(1 - z) * torch.tanh(n_x + torch.sigmoid(r_x + r_h) * n_h) + z * state[0]]

    def direction(self, name, xs, width):
        """h of every step of a layer, in the order of xs, and the last state."""
        state = [torch.zeros(width, dtype=torch.float64)] * (2 if self.config["cell"] == "lstm" else 1)
        made = []
        for x in xs:
            state = self.step(("encoder.rnn.", name), x, state)
            made.append(state[0])
        return made, state

    def encoded(self, tokens):
        """Outputs [S, H] of a source, and the state with which each layer of the decoder begins."""
        width, ways = self.config["hidden_size"], self.config["bidirectional"]
        table = self.p.get("shared.weight", self.p.get("encoder.embeddings.weight"))
        xs, states = list(table[tokens]), []
        for i in range(self.config["num_layers"]):
            if not ways:
                xs, last = self.direction(f"l{i}", xs, width)
                states.append(last)
                continue
            forward, ends = self.direction(f"l{i}", xs, width // 2)
            backward, starts = self.direction(f"l{i}_reverse", xs[::-1], width // 2)
            xs = [torch.cat(pair) for pair in zip(forward, backward[::-1])]
            states.append([self.p[f"bridge.{part}_l{i}.weight"] @ torch.cat(pair) + self.p[f"bridge.{part}_l{i}.bias"]
                           for part, pair in zip("hc", zip(ends, starts))])
        return torch.stack(xs), states

    def score(self, s, h):
        p = {key: self.p.get(f"decoder.attn.{key}.weight") for key in ("linear_in", "linear_query", "linear_context")}
        kind = self.config["attention_score"]
        if kind == "dot":
            return s @ h
        if kind == "general":
            return s @ p["linear_in"].T @ h
        if kind == "low_rank":
            return (p["linear_query"] @ s) @ (p["linear_context"] @ h)
        inner = torch.tanh(p["linear_context"] @ h + p["linear_query"] @ s + self.p["decoder.attn.linear_query.bias"])
        return self.p["decoder.attn.v.weight"][0] @ inner

    def decoded(self, memory, states, tokens):
        """Features [T, H] of a row of targets."""
        width, made = self.config["hidden_size"], []
        table = self.p.get("shared.weight", self.p.get("decoder.embeddings.weight"))
        feature = torch.zeros(width, dtype=torch.float64)
        for x in table[tokens]:
            if self.config["input_feeding"]:
                x = torch.cat([x, feature])
            for i in range(self.config["num_layers"]):
                states[i] = self.step(("decoder.rnn.", f"l{i}"), x, states[i])
                x = states[i][0]
            weights = torch.softmax(torch.stack([self.score(x, h) for h in memory]), 0)
            feature = torch.tanh(self.p["decoder.attn.linear_out.weight"] @ torch.cat([weights @ memory, x]))
            made.append(feature)
        return torch.stack(made)

    def logits(self, source, source_lengths, tokens):
        rows = []
        for row, length, target in zip(source, source_lengths.tolist(), tokens):
            memory, states = self.encoded(row[:length])
            rows.append(self.decoded(memory, list(states), target))
        own = "generator.weight" if "generator.weight" in self.p else "decoder.embeddings.weight"
        return torch.stack(rows) @ self.p[own if own in self.p else "shared.weight"].T


def shapes(config):
    H, vocabularies = config["hidden_size"], (config["vocab_size"], config["decoder_vocab_size"])
    tables = ["shared"] if config["share_encoder_decoder_embeddings"] else ["encoder.embeddings", "decoder.embeddings"]
    for name, vocabulary in zip(tables, vocabularies):
        yield name + ".weight", (vocabulary, H)
    gates, ways = GATES[config["cell"]], ["", "_reverse"] if config["bidirectional"] else [""]

    def layer(name, inputs, width):
        for part, shape in (("weight_ih", (gates * width, inputs)), ("weight_hh", (gates * width, width)),
                            ("bias_ih", (gates * width,)), ("bias_hh", (gates * width,))):
            yield name.format(part), shape

    for i in range(config["num_layers"]):
        for way in ways:
            yield from layer(f"encoder.rnn.{{}}_l{i}{way}", H, H // len(ways))
        fed = H if config["input_feeding"] and i == 0 else 0
        yield from layer(f"decoder.rnn.{{}}_l{i}", H + fed, H)
        if config["bidirectional"]:
            for part in "hc" if config["cell"] == "lstm" else "h":
                yield f"bridge.{part}_l{i}.weight", (H, H)
                yield f"bridge.{part}_l{i}.bias", (H,)
    rank, attn = config["score_rank"] or H, "decoder.attn."
    if config["attention_score"] == "general":
        yield attn + "linear_in.weight", (H, H)
    if config["attention_score"] in ("low_rank", "additive"):
        yield attn + "linear_query.weight", (rank, H)
        yield attn + "linear_context.weight", (rank, H)
    if config["attention_score"] == "additive":
        yield attn + "linear_query.bias", (rank,)
        yield attn + "v.weight", (1, rank)
    yield attn + "linear_out.weight", (H, 2 * H)
    if not config["tie_word_embeddings"]:
        yield "generator.weight", (vocabularies[1], H)


def main():
    for _, (name, (cell, score, changes, smoothing, seed)) in chosen(CASES):
        config = {**BASE, **changes, "cell": cell, "attention_score": score}
        make(name, Recurrent, shapes(config), config, smoothing, np.random.default_rng(seed), SEARCHED.get(name))


if __name__ == "__main__":
    assert {(cell, score) for cell, score, *_ in CASES.values()} == {(c, s) for c in GATES for s in SCORES}
    main()
