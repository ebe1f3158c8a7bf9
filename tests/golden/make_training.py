#!/usr/bin/python3
"""Makes training/: ten steps of small models with each optimiser, and learning rates, by PyTorch in float64.

  tests/golden/make_training.py        (Debian's python3-torch and python3-numpy)

Each folder is a model directory with the initial weights of a run. steps.json has its options and schedule; each step's
loss, grad_norm and rate; and `rounding`: the change of losses, norms and total updates of parameters when every initial
weight is rounded to fp32 once, from which tests derive their tolerances. steps.safetensors has every micro-batch (for
images a pool, from which micro-batch t takes images t·B to t·B + B − 1 and starts again at its end), and after.NAME,
the parameters after the last step. schedules.json has points of learning-rate curves."""
import json
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

import make_golden as gpt
import make_vit_golden as vit
from noise import Noise
from training import Trainer, begin, rate, relative, require_clipping, rounding

HERE = os.path.join(gpt.HERE, "training")
STEPS, POOL = 10, 8
OPTIONS = {"optimizer": "adamw", "beta1": 0.9, "beta2": 0.95, "eps": 1e-3, "momentum": 0.9, "weight_decay": 0.1,
           "decay_all": False, "grad_clip": 1.0, "accumulation": 2, "dropout": 0.0, "drop_path": 0.0, "seed": 7}
NANOGPT = {"kind": "nanogpt", "learning_rate": 1e-2, "min_lr": 1e-3, "warmup_iters": 3, "lr_decay_iters": 8}
BY_STEP = {"kind": "by-step", "learning_rate": 1e-2, "min_lr": 1e-4, "warmup_epochs": 1, "epochs": 5,
           "steps_per_epoch": 2}
BY_EPOCH = {"kind": "by-epoch", "learning_rate": 1e-2, "epochs": 5, "steps_per_epoch": 2}
# Attention, other keys of config.json, other options, schedule. Cases with Adam have no biases: the exact gradients of
# key biases are 0, and Adam would turn their rounding errors into steps.
GPT_CASES = {
    "gpt2-adamw": ({"variant": "belief"}, {"bias": False}, {"grad_clip": 2.0}, NANOGPT),
    "gpt2-setadam": ({"variant": "belief-star"}, {"bias": False},
                     {"optimizer": "setadam", "eps": 1e-6, "grad_clip": 1.1, "decay_all": True, "accumulation": 3},
                     NANOGPT),
    "gpt2-sgd": ({"variant": "standard"}, {}, {"optimizer": "sgd"}, {**NANOGPT, "learning_rate": 0.1, "min_lr": 0.02}),
}
VIT_CASES = {
    "vit-adamw": ({"variant": "belief-star"}, {},
                  {"beta2": 0.999, "weight_decay": 0.05, "decay_all": True, "grad_clip": 1.3, "accumulation": 1},
                  BY_STEP),
    "vit-setadam": ({"variant": "attentionx", "gamma": 1.0, "gamma_on": "sum"}, vit.KK,
                    {"optimizer": "setadam", "eps": 1e-6, "beta2": 0.999, "grad_clip": 0.9, "dropout": 0.1},
                    BY_EPOCH),
    "vit-sgd": ({"variant": "standard"}, {},
                {"optimizer": "sgd", "momentum": 0.0, "accumulation": 3, "drop_path": 0.3},
                {**BY_STEP, "learning_rate": 0.2, "min_lr": 0.02}),
}
# The published recipes' schedules, at their corners and in between.
CURVES = [
    ({"kind": "nanogpt", "learning_rate": 6e-4, "min_lr": 6e-5, "warmup_iters": 2000, "lr_decay_iters": 600000},
     [0, 1, 1000, 1999, 2000, 2001, 150000, 301000, 599999, 600000, 600001, 700000]),
    ({"kind": "nanogpt", "learning_rate": 1e-3, "min_lr": 1e-4, "warmup_iters": 100, "lr_decay_iters": 5000},
     [0, 50, 99, 100, 101, 2550, 4999, 5000, 6000]),
    ({"kind": "nanogpt", "learning_rate": 1e-3, "min_lr": 1e-4, "warmup_iters": 0, "lr_decay_iters": 10},
     [0, 1, 9, 10]),
    ({"kind": "trapezoid", "learning_rate": 1.8e-3, "min_lr": 0.0, "warmup_iters": 256, "lr_decay_iters": 9536,
      "warmdown_iters": 2048}, [0, 1, 255, 256, 257, 7487, 7488, 7489, 8512, 9535, 9536, 10000]),
    ({"kind": "trapezoid", "learning_rate": 1e-3, "min_lr": 1e-4, "warmup_iters": 0, "lr_decay_iters": 10,
      "warmdown_iters": 0}, [0, 9, 10]),
    ({"kind": "inverse-sqrt", "learning_rate": 5e-4, "warmup_iters": 4000},
     [0, 1, 2000, 3998, 3999, 4000, 4001, 15999, 99999, 1000000]),
    ({"kind": "inverse-sqrt", "learning_rate": 1e-3, "warmup_iters": 0}, [0, 1, 3, 99]),
    ({"kind": "by-step", "learning_rate": 1e-3, "min_lr": 1e-6, "warmup_epochs": 10, "epochs": 100,
      "steps_per_epoch": 1171}, [0, 1, 1171, 11709, 11710, 11711, 40000, 64405, 117098, 117099]),
    ({"kind": "by-step", "learning_rate": 2e-3, "min_lr": 1e-5, "warmup_epochs": 0, "epochs": 3,
      "steps_per_epoch": 781}, [0, 1, 781, 2342]),
    ({"kind": "by-epoch", "learning_rate": 1e-4, "epochs": 400, "steps_per_epoch": 391},
     [0, 390, 391, 782, 1173, 78200, 156008, 156009, 156399]),
    ({"kind": "by-epoch", "learning_rate": 1e-4, "epochs": 200, "steps_per_epoch": 98}, [0, 97, 98, 9800, 19599]),
]


def distance(found, wanted):
    """Relative differences of two runs. `way` compares the parameters' total updates: the largest distance between
    their ends, relative to the update's length, but to no less than 1e-4 of the longest."""
    ways = {key: np.linalg.norm(a - wanted["before"][key]) for key, a in wanted["after"].items()}
    apart = [np.linalg.norm(found["after"][key] - a) / max(ways[key], 1e-4 * max(ways.values()))
             for key, a in wanted["after"].items()]
    largest = lambda key: max(relative(a, b) for a, b in zip(found[key], wanted[key]))
    return {"loss": largest("loss"), "grad_norm": largest("grad_norm"), "way": max(apart)}


def write(name, config, weights, options, schedule, batches, loss):
    def run(values):
        trainer = Trainer(values, options, loss)
        results = [trainer.step(it, rate(schedule, it)) for it in range(STEPS)]
        return {"loss": [result[0] for result in results], "grad_norm": [result[1] for result in results],
                "before": values, "after": trainer.values()}

    found = run({key: a.astype(np.float64) for key, a in weights.items()})
    require_clipping(found["grad_norm"], options)
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/config.json", "w") as file:
        json.dump(config, file, indent=1)
    gpt.save(folder + "/model.safetensors", weights)
    gpt.save(folder + "/steps.safetensors",
         {**batches, **{"after." + key: a.astype(np.float32) for key, a in found["after"].items()}})
    with open(folder + "/steps.json", "w") as file:
        json.dump({"options": options, "schedule": schedule, "rounding": rounding(run, distance, weights),
                   "steps": [{"loss": found["loss"][it], "grad_norm": found["grad_norm"][it], "lr": rate(schedule, it)}
                             for it in range(STEPS)]}, file, indent=1)


def make_gpt(seed, name, attention, changes, options, schedule):
    rng = np.random.default_rng(200 + seed)
    config = {"model_type": "gpt2", "vocab_size": gpt.V, "n_positions": gpt.T, "n_embd": gpt.C, "n_layer": gpt.L,
              "n_head": gpt.M, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
              "tie_word_embeddings": True, "bias": True, **changes, "attention": attention}
    options = {**OPTIONS, **options}
    count = STEPS * options["accumulation"]
    tokens = rng.integers(0, gpt.V, (count, gpt.B, gpt.T))
    targets = (3 * tokens + 1) % gpt.V  # a rule that can be learned
    targets[1, 0, 2] = -1  # ignored

    def loss(p, number):
        logits = gpt.forward(config, p, torch.tensor(tokens[number]))
        return F.cross_entropy(logits.flatten(0, 1), torch.tensor(targets[number]).flatten(), ignore_index=-1)

    write(name, config, begin(gpt.shapes(config), rng, 0.2), options, schedule,
          {"tokens": tokens.astype(np.int64), "targets": targets.astype(np.int64)}, loss)


def make_vit(seed, name, attention, changes, options, schedule):
    rng = np.random.default_rng(300 + seed)
    config = {"model_type": "vit", "image_size": vit.SIDE, "patch_size": vit.P, "num_channels": vit.CHANNELS,
              "hidden_size": vit.C, "num_hidden_layers": vit.LAYERS, "num_attention_heads": vit.M,
              "head_dim": vit.C // vit.M, "intermediate_size": vit.INNER, "hidden_act": "gelu", "layer_norm_eps": 1e-5,
              "qkv_bias": False, "num_labels": vit.CLASSES, **changes, "attention": attention}
    options = {**OPTIONS, **options}
    count, rows = STEPS * options["accumulation"], vit.NOISY_BATCH
    images = rng.normal(size=(POOL, vit.CHANNELS, vit.SIDE, vit.SIDE)).astype(np.float32)
    chosen = np.arange(count * rows).reshape(count, rows) % POOL
    # Targets are mixed and smoothed: shares of an image's label and another's, and a tenth spread over all classes.
    shares = rng.uniform(0.6, 1, (count, 1, 1))
    one_hot = np.eye(vit.CLASSES)[chosen % vit.CLASSES]
    mixed = shares * one_hot + (1 - shares) * one_hot[:, ::-1]
    targets = (0.9 * mixed + 0.1 / vit.CLASSES).astype(np.float32)

    def loss(p, number):
        noise = Noise(options["dropout"], options["drop_path"], options["seed"], number)
        logits = vit.forward(config, p, torch.tensor(images[chosen[number]], dtype=torch.float64), noise, [])
        return -(torch.tensor(targets[number], dtype=torch.float64) * logits.log_softmax(-1)).sum(-1).mean()

    write(name, config, begin(vit.shapes(config), rng, 0.2), options, schedule,
          {"images": images, "targets": targets}, loss)


def main():
    os.makedirs(HERE, exist_ok=True)
    for seed, (name, case) in enumerate(GPT_CASES.items()):
        make_gpt(seed, name, *case)
    for seed, (name, case) in enumerate(VIT_CASES.items()):
        make_vit(seed, name, *case)
    with open(HERE + "/schedules.json", "w") as file:
        json.dump([{**schedule, "points": [[step, rate(schedule, step)] for step in steps]}
                   for schedule, steps in CURVES], file, indent=1)


if __name__ == "__main__":
    main()
