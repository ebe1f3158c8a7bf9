#!/usr/bin/python3
"""Makes the golden cases classifier-… in this folder: small BERT classifiers of sequences of unequal lengths, in
float64.

  tests/golden/make_classifier_golden.py [CASE...]        (Debian's python3-torch and python3-numpy)

Each folder is a model directory with a case.safetensors: tokens [B, T], lengths and targets [B], label_smoothing,
logits [B, classes], loss, grad.NAME for every parameter, and `rounding` (make_golden.py). Written from Devlin et al.
(2018), section 4.1, independently of the C++ code: every sequence is computed alone, without padding, and the loss is
written out as in Szegedy et al. (2016)."""
import json
import os

import numpy as np
import torch

from make_bert_golden import BASE, encode, encoder_shapes, linear_shapes
from make_golden import HERE, chosen, rounding, save

# Lengths of the sequences, attention object, label smoothing, and other changes to `BASE`. An entry's position is its
# random seed.
CASES = {
    "classifier-first": ((9, 1, 6), {"variant": "standard"}, 0.0, {}),
    "classifier-mean": ((4, 7, 2, 1), {"variant": "standard"}, 0.1, {"pooling": "mean", "num_labels": 5}),
    "classifier-odd": ((3, 8), {"variant": "standard"}, 0.3,
                       {"hidden_size": 15, "intermediate_size": 13, "num_labels": 2, "pooling": "mean"}),
    "classifier-belief-star": ((5, 2, 9), {"variant": "belief-star"}, 0.1, {"pooling": "mean"}),
    "classifier-attentionx": ((2, 9, 4), {"variant": "attentionx", "gamma": 0.5, "gamma_on": "value"}, 0.0, {}),
    "classifier-longformer": ((9, 1, 3, 6), {"variant": "belief", "kind": "longformer", "longformer_window": 1,
                                             "longformer_global_tokens": 2}, 0.1, {}),
}
OWN = {"architectures": ["BertForSequenceClassification"], "num_labels": 3, "pooling": "first"}
OF_PREDICTIONS = ("tie_word_embeddings", "mask_token_id", "mask_share")


def logits_of(config, p, sequence):
    def linear(x, name):
        return p[name + ".weight"] @ x + p[name + ".bias"]

    states = encode(config, p, sequence[None])[0]
    pooled = states.mean(0) if config["pooling"] == "mean" else states[0]
    return linear(torch.tanh(linear(pooled, "bert.pooler.dense")), "classifier")


def loss_of(logits, target, smoothing):
    """−Σ q log p, where q has 1 − ε at the target and ε / K at each of the K classes besides."""
    wanted = torch.full_like(logits, smoothing / len(logits))
    wanted[target] += 1 - smoothing
    return -(wanted * (logits - torch.logsumexp(logits, 0))).sum()


def shapes(config):
    C = config["hidden_size"]
    yield from encoder_shapes(config)
    yield from linear_shapes("bert.pooler.dense", C, C)
    yield from linear_shapes("classifier", config["num_labels"], C)


def run(config, sequences, targets, smoothing, values):
    p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=True) for key, a in values.items()}
    logits = torch.stack([logits_of(config, p, torch.tensor(one)) for one in sequences])
    loss = sum(loss_of(row, target, smoothing) for row, target in zip(logits, targets) if target >= 0)
    loss = loss / sum(target >= 0 for target in targets)
    loss.backward()
    return logits.detach().numpy(), loss.item(), {key: q.grad.numpy() for key, q in p.items()}


def main():
    for seed, (name, (lengths, spec, smoothing, changes)) in chosen(CASES):
        config = {key: value for key, value in BASE.items() if key not in OF_PREDICTIONS}
        config = {**config, **OWN, **changes, "attention": spec}
        rng, vocabulary = np.random.default_rng(seed), config["vocab_size"]
        weights = {key: (rng.normal(0, 0.4, shape) + (1 if len(shape) == 1 and key.endswith("weight") else 0))
                   .astype(np.float32) for key, shape in shapes(config)}
        sequences = [rng.integers(0, vocabulary, length) for length in lengths]
        targets = rng.integers(0, config["num_labels"], len(lengths)).tolist()
        targets[-1] = -1 if len(lengths) > 3 else targets[-1]
        smoothing = float(np.float32(smoothing))
        logits, loss, d = run(config, sequences, targets, smoothing, weights)
        tokens = rng.integers(0, vocabulary, (len(lengths), max(lengths)))  # padding is any token
        for row, sequence in zip(tokens, sequences):
            row[:len(sequence)] = sequence
        folder = os.path.join(HERE, name)
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/config.json", "w") as file:
            json.dump(config, file, indent=1)
        save(folder + "/model.safetensors", weights)
        case = {"tokens": tokens.astype(np.int32), "lengths": np.array(lengths, np.int32),
                "targets": np.array(targets, np.int32), "label_smoothing": np.array([smoothing], np.float32),
                "logits": logits.astype(np.float32), "loss": np.array(loss, np.float32),
                "rounding": rounding(lambda values: run(config, sequences, targets, smoothing, values)[2], weights)}
        case.update({"grad." + key: a.astype(np.float32) for key, a in d.items()})
        save(folder + "/case.safetensors", case)


if __name__ == "__main__":
    main()
