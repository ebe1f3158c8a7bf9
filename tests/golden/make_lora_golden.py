#!/usr/bin/python3
"""Makes the golden cases lora-… in this folder: adapters for models that are golden cases themselves, in float64.

  tests/golden/make_lora_golden.py        (Debian's python3-torch and python3-numpy; run it after the models' programs)

Each folder is a directory of adapters in PEFT's layout (adapter_config.json, adapter_model.safetensors) with
a case.safetensors: tokens, targets, logits, loss and grad.NAME for every A and B, and `rounding` as in make_golden.py.
Here an adapter is added to its weight, and the model is then computed without adapters. GPT-2's weights are
[in, out], so their product is transposed. A model that rounds its weights rounds them before the adapter is added."""
import json
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

import make_golden
import make_llama_golden
import make_nano_golden
from make_golden import HERE, chosen, rounding, save

GPT2 = (make_golden.forward, "transformer.", True)
NANO = (make_nano_golden.forward, "transformer.", False)
LLAMA = (make_llama_golden.forward, "", False)
# The base model; its functions, the prefix of its names in Hugging Face's files, and True if its weights are [in, out];
# changes to `CONFIG`. An entry's position is its random seed.
CASES = {
    "lora-gpt2": ("belief-star", GPT2, {"r": 3, "lora_alpha": 6, "target_modules": ["c_proj", "c_attn", "c_proj_s"],
                                        "fan_in_fan_out": True}),
    "lora-gpt2-one": ("standard", GPT2, {"r": 1, "lora_alpha": 0.5, "target_modules": ["mlp.c_fc"],
                                         "fan_in_fan_out": True}),
    "lora-llama": ("llama-standard", LLAMA, {"r": 2, "lora_alpha": 8, "target_modules": ["v_proj", "q_proj"]}),
    "lora-rslora": ("llama-belief-star", LLAMA,
                    {"r": 4, "lora_alpha": 3, "use_rslora": True,
                     "target_modules": ["down_proj", "o_proj", "k_proj", "gate_proj", "o_proj_s"]}),
    "lora-nano": ("nano-belief-star", NANO, {"r": 2, "lora_alpha": 4, "target_modules": ["c_proj", "c_fc"]}),
}
# adapter_config.json as PEFT writes it.
CONFIG = {"alpha_pattern": {}, "auto_mapping": None, "base_model_name_or_path": None, "bias": "none",
          "corda_config": None, "eva_config": None, "exclude_modules": None, "fan_in_fan_out": False,
          "inference_mode": True, "init_lora_weights": True, "layer_replication": None, "layers_pattern": None,
          "layers_to_transform": None, "loftq_config": {}, "lora_alpha": 8, "lora_bias": False, "lora_dropout": 0.05,
          "megatron_config": None, "megatron_core": "megatron.core", "modules_to_save": None, "peft_type": "LORA",
          "r": 8, "rank_pattern": {}, "revision": None, "target_modules": [], "task_type": "CAUSAL_LM",
          "trainable_token_indices": None, "use_dora": False, "use_rslora": False}


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    kinds = {"F32": np.float32, "I64": np.int64}
    return {name: np.frombuffer(data[slice(*of["data_offsets"])], kinds[of["dtype"]]).reshape(of["shape"])
            for name, of in header.items() if name != "__metadata__"}


def adapted(config, weights):
    """Paths of the linear maps that have adapters: their names end in a target."""
    paths = [name[:-len(".weight")] for name, a in weights.items() if a.ndim == 2 and name.endswith(".weight")]
    return [path for path in paths if any(("." + path).endswith("." + target) for target in config["target_modules"])]


def merged(p, config, paths, transposed):
    scale = config["lora_alpha"] / (math.sqrt(config["r"]) if config["use_rslora"] else config["r"])
    whole = dict(p)
    for path in paths:
        delta = scale * p[path + ".lora_B.weight"] @ p[path + ".lora_A.weight"]
        whole[path + ".weight"] = p[path + ".weight"] + (delta.T if transposed else delta)
    return whole


def lora_case(name, seed, base, family, changes):
    forward, prefix, transposed = family
    rng = np.random.default_rng(seed)
    with open(os.path.join(HERE, base, "config.json")) as file:
        model = json.load(file)
    config = {**CONFIG, "base_model_name_or_path": "../" + base, **changes}
    weights = load(os.path.join(HERE, base, "model.safetensors"))
    drawn = load(os.path.join(HERE, base, "case.safetensors"))
    tokens, targets, vocabulary = drawn["tokens"], drawn["targets"], model["vocab_size"]
    if model.get("casted_weights"):
        model, weights = make_nano_golden.in_use(model, weights)
    paths, parts = adapted(config, weights), {}
    for path in paths:
        into, out = weights[path + ".weight"].shape[::1 if transposed else -1]
        parts[path + ".lora_A.weight"] = rng.normal(0, 0.4, (config["r"], into)).astype(np.float32)
        parts[path + ".lora_B.weight"] = rng.normal(0, 0.4, (out, config["r"])).astype(np.float32)

    def run(values):
        p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=key in parts) for key, a in values.items()}
        logits = forward(model, merged(p, config, paths, transposed), torch.tensor(tokens))
        loss = F.cross_entropy(logits.reshape(-1, vocabulary), torch.tensor(targets).reshape(-1), ignore_index=-1)
        loss.backward()
        return logits, loss, {key: p[key].grad.numpy() for key in parts}

    logits, loss, d = run({**weights, **parts})
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/adapter_config.json", "w") as file:
        json.dump(config, file, indent=2)
    save(folder + "/adapter_model.safetensors",
         {f"base_model.model.{prefix}{key}": a for key, a in sorted(parts.items())})
    case = {"tokens": tokens, "targets": targets, "logits": logits.detach().numpy().astype(np.float32),
            "loss": np.array(loss.item(), np.float32),
            "rounding": rounding(lambda values: run(values)[2], {**weights, **parts})}
    case.update({"grad." + key: a.astype(np.float32) for key, a in d.items()})
    save(folder + "/case.safetensors", case)


def main():
    for seed, (name, (base, family, changes)) in chosen(CASES):
        lora_case(name, seed, base, family, changes)


if __name__ == "__main__":
    main()
