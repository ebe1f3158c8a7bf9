#!/usr/bin/python3
"""Makes runs/: the expected output of the program's `train`, and of `eval` with the best model, for small runs,
computed by PyTorch in float64.

  tests/golden/make_runs.py        (Debian's python3-torch and python3-numpy)

Each folder is a model directory to start from, with training data in data/ and run.json: the options of `train`, the
expected lines of metrics.jsonl, the arguments of `eval` and its expected output for best/, and `rounding`: the change
of each kind of number when every initial weight is rounded to fp32 once, from which tests derive their tolerances. The
data of each step and evaluation are drawn here from the same random streams as in the program."""
import json
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

import make_golden as gpt
import make_vit_golden as vit
from noise import Noise, Stream
from training import Trainer, begin, rate, relative, require_clipping, rounding

HERE = os.path.join(gpt.HERE, "runs")
SEED = 11
TRAIN_TOKENS, VAL_TOKENS = 300, 120
TRAIN_IMAGES, TEST_IMAGES, SIDE, PATCH = 18, 10, 32, 16  # five batches of four, the last one of two
MEAN, DEVIATION = (.4914, .4822, .4465), (.2470, .2435, .2616)


def numbers(run):
    """All numbers of a run that rounding changes, by kind."""
    kinds = {}
    for each in [*run["metrics"], *(e["result"] for e in run["eval"])]:
        for key, value in each.items():
            if key in ("loss", "grad_norm", "train_loss", "val_loss", "perplexity", "bits_per_token"):
                kinds.setdefault(key, []).append(value)
    return kinds


def distance(found, wanted):
    found, wanted = numbers(found), numbers(wanted)
    return {key: max(relative(a, b) for a, b in zip(found[key], wanted[key])) for key in wanted}


def write(name, config, weights, options, run):
    found = run({key: a.astype(np.float64) for key, a in weights.items()})
    folder = os.path.join(HERE, name)
    with open(folder + "/config.json", "w") as file:
        json.dump(config, file, indent=1)
    gpt.save(folder + "/model.safetensors", weights)
    with open(folder + "/run.json", "w") as file:
        json.dump({"options": options, "rounding": rounding(run, distance, weights), **found}, file, indent=1)


def follow(trainer, steps, interval, schedule, evaluate, score):
    """Metrics as the program logs them; step and weights of the first evaluation with the lowest score."""
    metrics, best, best_score = [], None, math.inf
    for it in range(steps + 1):
        if it % interval == 0 or it == steps:
            found = evaluate(trainer)
            metrics.append({"step": it, **found})
            if score(found) < best_score:
                best, best_score = (it, trainer.values()), score(found)
        if it < steps:
            loss, norm = trainer.step(it, rate(schedule, it))
            metrics.append({"step": it, "loss": loss, "lr": rate(schedule, it), "grad_norm": norm})
    return metrics, best


def evaluations(metrics, key):
    return [each[key] for each in metrics if key in each]


# --- A language model

GPT_OPTIONS = {"order": "sequential", "batch-size": gpt.B, "block-size": gpt.T, "gradient-accumulation-steps": 3,
               "max-iters": 10, "warmup-iters": 3, "lr-decay-iters": 8, "learning-rate": 0.04, "min-lr": 0.004,
               "optimizer": "adamw", "beta1": 0.9, "beta2": 0.95, "weight-decay": 0.1, "grad-clip": 1.3,
               "eval-interval": 2, "eval-iters": 4, "seed": SEED}


def chain(rng, count, step):
    """Tokens, of which four in five follow from the previous token."""
    tokens = [0]
    while len(tokens) < count:
        tokens.append((3 * tokens[-1] + step) % gpt.V if rng.uniform() < 0.8 else int(rng.integers(gpt.V)))
    return np.array(tokens)


def gpt_loss(config, p, tokens, starts):
    x, y = (np.stack([tokens[s + by:s + by + gpt.T] for s in starts]) for by in (0, 1))
    return F.cross_entropy(gpt.forward(config, p, torch.tensor(x)).flatten(0, 1), torch.tensor(y).flatten())


def random_starts(name, tokens, batch):
    stream = Stream(SEED, "batch/" + name, batch)
    return [stream.below(len(tokens) - gpt.T) for _ in range(gpt.B)]


@torch.no_grad()
def mean_loss(config, p, tokens, name, batches):
    return float(np.mean([gpt_loss(config, p, tokens, random_starts(name, tokens, t)).item() for t in range(batches)]))


@torch.no_grad()
def whole_loss(config, p, tokens):
    """Predicts every token but the first once, in consecutive windows that do not see each other."""
    total = 0.0
    for start in range(0, len(tokens) - 1, gpt.T):
        x, y = tokens[start:start + gpt.T], tokens[start + 1:start + 1 + gpt.T]
        logits = gpt.forward(config, p, torch.tensor(np.stack([np.resize(x, gpt.T)] * gpt.B)))[0, :len(y)]
        total += F.cross_entropy(logits, torch.tensor(y), reduction="sum").item()
    return total / (len(tokens) - 1)


def eval_result(loss, tokens):
    return {"loss": loss, "perplexity": math.exp(loss), "bits_per_token": loss / math.log(2), "tokens": tokens}


def make_gpt():
    rng = np.random.default_rng(406)
    train, val = chain(rng, TRAIN_TOKENS, 1), chain(rng, VAL_TOKENS, 5)  # learning from train soon stops helping on val
    os.makedirs(HERE + "/gpt2/data", exist_ok=True)
    train.astype("<u2").tofile(HERE + "/gpt2/data/train.bin")
    val.astype("<u2").tofile(HERE + "/gpt2/data/val.bin")
    config = {"model_type": "gpt2", "vocab_size": gpt.V, "n_positions": gpt.T, "n_embd": gpt.C, "n_layer": gpt.L,
              "n_head": gpt.M, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
              "tie_word_embeddings": True, "bias": False, "attention": {"variant": "belief"}}
    o = GPT_OPTIONS
    options = {"optimizer": o["optimizer"], "beta1": o["beta1"], "beta2": o["beta2"], "eps": 1e-8,
               "weight_decay": o["weight-decay"], "decay_all": False, "grad_clip": o["grad-clip"],
               "accumulation": o["gradient-accumulation-steps"]}
    schedule = {"kind": "nanogpt", "learning_rate": o["learning-rate"], "min_lr": o["min-lr"],
                "warmup_iters": o["warmup-iters"], "lr_decay_iters": o["lr-decay-iters"]}

    def loss(p, number):
        starts = [((number * gpt.B + b) * gpt.T) % (TRAIN_TOKENS - gpt.T) for b in range(gpt.B)]
        return gpt_loss(config, p, train, starts)

    def run(values):
        evaluate = lambda trainer: {"train_loss": mean_loss(config, trainer.p, train, "eval-train", o["eval-iters"]),
                                    "val_loss": mean_loss(config, trainer.p, val, "eval-val", o["eval-iters"])}
        metrics, (_, weights) = follow(Trainer(values, options, loss), o["max-iters"], o["eval-interval"], schedule,
                                          evaluate, lambda found: found["val_loss"])
        best = {key: torch.tensor(a) for key, a in weights.items()}
        common = [f"--seed={SEED}", f"--batch-size={gpt.B}"]
        return {"metrics": metrics, "eval": [
            {"arguments": [*common, "--iters=5"],
             "result": eval_result(mean_loss(config, best, val, "val", 5), 5 * gpt.B * gpt.T)},
            {"arguments": [*common, "--split=train", "--iters=5"],
             "result": eval_result(mean_loss(config, best, train, "train", 5), 5 * gpt.B * gpt.T)},
            {"arguments": [*common, "--all"],
             "result": eval_result(whole_loss(config, best, val), VAL_TOKENS - 1)}]}

    weights = begin(gpt.shapes(config), rng, 0.2)
    found = run(weights)
    require_clipping(evaluations(found["metrics"], "grad_norm"), options)
    vals, trains = evaluations(found["metrics"], "val_loss"), evaluations(found["metrics"], "train_loss")
    assert 0 < np.argmin(vals) < len(vals) - 1 and np.argmin(vals) != np.argmin(trains), (vals, trains)
    assert sorted(vals)[1] - min(vals) > 1e-3, vals
    write("gpt2", config, weights, o, run)


# --- A vision transformer

VIT_OPTIONS = {"augment": "none", "statistics": "sl-cifar10", "mix": 0.5, "label-smoothing": 0.0, "passes": 1,
               "batch-size": 4, "gradient-accumulation-steps": 2, "epochs": 6, "warmup-epochs": 1,
               "schedule": "by-step", "learning-rate": 0.3, "min-lr": 0.01, "optimizer": "sgd", "momentum": 0.5,
               "weight-decay": 0.05, "grad-clip": 2.2, "eval-interval": 1, "seed": SEED}


def pictures(rng, labels):
    """Bytes [N, 3, side, side]: each class is a pattern of 4 x 4 blocks, with noise per block."""
    patterns = np.random.default_rng(1).integers(40, 216, (vit.CLASSES, 3, 4, 4))
    coarse = patterns[labels] + rng.integers(-40, 40, (len(labels), 3, 4, 4))
    return coarse.repeat(SIDE // 4, 2).repeat(SIDE // 4, 3).astype(np.uint8)


def normalised(pixels):
    """Normalises in fp32, as torchvision does."""
    mean, deviation = (np.array(a, np.float32).reshape(3, 1, 1) for a in (MEAN, DEVIATION))
    return ((pixels.astype(np.float32) / np.float32(255) - mean) / deviation).astype(np.float64)


def mixed(images, one_hot, stream, probability):
    """MixUp or CutMix of a batch, each with probability 1/2."""
    if stream.uniform() >= probability:
        return images, one_hot
    cut, share = stream.uniform() < 0.5, stream.uniform()
    if cut:
        half = int(SIDE * math.sqrt(1 - share)) // 2
        x, y = stream.below(SIDE), stream.below(SIDE)
        (left, right), (top, bottom) = ((max(at - half, 0), min(at + half, SIDE)) for at in (x, y))
        share = 1 - (right - left) * (bottom - top) / SIDE**2
    partner = stream.permutation(len(images))
    if cut:
        images = images.copy()
        images[:, :, top:bottom, left:right] = images[partner][:, :, top:bottom, left:right]
    else:
        images = share * images + (1 - share) * images[partner]
    return images, share * one_hot + (1 - share) * one_hot[partner]


def make_vit():
    rng = np.random.default_rng(511)
    labels = {"train": np.arange(TRAIN_IMAGES) % vit.CLASSES, "test": np.arange(TEST_IMAGES) % vit.CLASSES}
    pixels = {split: pictures(rng, of) for split, of in labels.items()}
    # Some labels are wrong, so that the loss rises while the accuracy on the other images still improves.
    labels["test"][:3] = (labels["test"][:3] + 1) % vit.CLASSES
    os.makedirs(HERE + "/vit/data", exist_ok=True)
    for split, of in labels.items():  # CIFAR-100's layout: coarse label, fine label, planes
        records = [np.concatenate([[0, label], planes.reshape(-1)]) for label, planes in zip(of, pixels[split])]
        np.stack(records).astype(np.uint8).tofile(f"{HERE}/vit/data/{split}.bin")
    with open(HERE + "/vit/data/fine_label_names.txt", "w") as file:
        file.write("".join(f"class {i}\n" for i in range(vit.CLASSES)))
    config = {"model_type": "vit", "image_size": SIDE, "patch_size": PATCH, "num_channels": vit.CHANNELS,
              "hidden_size": vit.C, "num_hidden_layers": vit.LAYERS, "num_attention_heads": vit.M,
              "head_dim": vit.C // vit.M, "intermediate_size": vit.INNER, "hidden_act": "gelu", "layer_norm_eps": 1e-5,
              "qkv_bias": False, "num_labels": vit.CLASSES, "attention": {"variant": "standard"}}
    o = VIT_OPTIONS
    rows, count = o["batch-size"], o["gradient-accumulation-steps"]
    batches = -(-TRAIN_IMAGES // rows)
    steps_per_epoch = batches // count
    options = {"optimizer": o["optimizer"], "momentum": o["momentum"], "weight_decay": o["weight-decay"],
               "decay_all": False, "grad_clip": o["grad-clip"], "accumulation": count}
    schedule = {"kind": o["schedule"], "learning_rate": o["learning-rate"], "min_lr": o["min-lr"],
                "warmup_epochs": o["warmup-epochs"], "epochs": o["epochs"], "steps_per_epoch": steps_per_epoch}
    images = {split: normalised(of) for split, of in pixels.items()}
    logits = lambda p, of: vit.forward(config, p, torch.tensor(of), Noise(0, 0, 0, 0), [])

    def loss(p, number):
        epoch, at = number // batches, number % batches
        chosen = Stream(SEED, "image order", epoch << 32).permutation(TRAIN_IMAGES)[at * rows:(at + 1) * rows]
        x, weights = mixed(images["train"][chosen], np.eye(vit.CLASSES)[labels["train"][chosen]],
                           Stream(SEED, "mix", epoch << 32 | at), o["mix"])
        return -(torch.tensor(weights) * logits(p, x).log_softmax(-1)).sum(-1).mean()  # over the batch's images

    @torch.no_grad()
    def evaluate(trainer):
        y = logits(trainer.p, images["test"])
        top = y.sort(-1).values
        assert (top[:, -1] - top[:, -2] > 1e-3).all()  # rounding decides nothing
        right = (y.argmax(-1).numpy() == labels["test"]).mean()
        return {"val_loss": F.cross_entropy(y, torch.tensor(labels["test"])).item(), "val_accuracy": float(right)}

    def run(values):
        metrics, (step, _) = follow(Trainer(values, options, loss), o["epochs"] * steps_per_epoch,
                                    o["eval-interval"] * steps_per_epoch, schedule, evaluate,
                                    lambda found: -found["val_accuracy"])
        best = next(each for each in metrics if "val_loss" in each and each["step"] == step)
        return {"metrics": metrics, "eval": [
            {"arguments": ["--batch-size=4"],
             "result": {"loss": best["val_loss"], "accuracy": best["val_accuracy"], "images": TEST_IMAGES}}]}

    weights = begin(vit.shapes(config), rng, 0.2)
    weights["patch_embed.proj.weight"] *= np.float32(0.25)
    found = run(weights)
    losses, right = evaluations(found["metrics"], "val_loss"), evaluations(found["metrics"], "val_accuracy")
    first = right.index(max(right))
    assert first not in (0, len(right) - 1, np.argmin(losses), np.argmin(right)), (losses, right)
    require_clipping(evaluations(found["metrics"], "grad_norm"), options)
    write("vit", config, weights, o, run)


def main():
    make_gpt()
    make_vit()


if __name__ == "__main__":
    main()
