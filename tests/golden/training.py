"""A training run in PyTorch's float64: optimisers, clipping, accumulation, learning rates.

Shared by the programs that make golden files of training, and by tools/check-training. Written from the published
formulas, independently of the C++ code: AdamW and SGD are PyTorch's own, SET-Adam and the learning rates are below."""
import math

import numpy as np
import torch


# --- Learning rates: functions of the step, counted from 0

def nanogpt_rate(it, learning_rate, min_lr, warmup_iters, lr_decay_iters):
    """nanoGPT's get_lr."""
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    if it > lr_decay_iters:
        return min_lr
    ratio = (it - warmup_iters) / (lr_decay_iters - warmup_iters)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


def by_step_rate(step, learning_rate, min_lr, warmup_epochs, epochs, steps_per_epoch):
    """SPT_LSA_ViT's scheduler: linear from min_lr during the warm-up, then a cosine back to it, step by step."""
    warmup, last = warmup_epochs * steps_per_epoch, epochs * steps_per_epoch
    if step < warmup:
        return min_lr + step * (learning_rate - min_lr) / warmup
    return min_lr + (learning_rate - min_lr) * (1 + math.cos(math.pi * (step - warmup) / (last - warmup))) / 2


def by_epoch_rate(step, learning_rate, epochs, steps_per_epoch):
    """vision-transformers-cifar10: CosineAnnealingLR to 0, with step(epoch - 1) after each epoch's training."""
    epoch = step // steps_per_epoch
    return learning_rate if epoch == 0 else learning_rate * (1 + math.cos(math.pi * (epoch - 2) / epochs)) / 2


def trapezoid_rate(it, learning_rate, min_lr, warmup_iters, lr_decay_iters, warmdown_iters):
    """modded-nanogpt's get_lr (branch `casted`), with a final rate."""
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    if it < lr_decay_iters - warmdown_iters:
        return learning_rate
    left = max(lr_decay_iters - it, 0)
    return min_lr + (learning_rate - min_lr) * left / warmdown_iters if left else min_lr


def inverse_sqrt_rate(it, learning_rate, warmup_iters):
    """Vaswani et al. (2017), equation 3, for updates from 1; scaled so that its highest rate is learning_rate."""
    update, warmup = it + 1, max(warmup_iters, 1)
    return learning_rate * warmup ** 0.5 * min(update ** -0.5, update * warmup ** -1.5)


SCHEDULES = {"nanogpt": nanogpt_rate, "trapezoid": trapezoid_rate, "inverse-sqrt": inverse_sqrt_rate,
             "by-step": by_step_rate, "by-epoch": by_epoch_rate}


def rate(schedule, step):
    """Learning rate of a schedule from the golden files: its kind, and the arguments of the function above."""
    arguments = {key: value for key, value in schedule.items() if key != "kind"}
    return SCHEDULES[schedule["kind"]](step, **arguments)


# --- Optimisers: step(rate) moves the parameters by their gradients

class SetAdam:
    """SET-Adam: multiplies v by its squared cosine with (1, ..., 1), adds epsilon under the root, and subtracts half
    the smallest root."""

    def __init__(self, params, decays, betas, eps):
        self.params, self.decays, (self.beta1, self.beta2), self.eps, self.t = params, decays, betas, eps, 0
        self.m, self.v = [torch.zeros_like(p) for p in params], [torch.zeros_like(p) for p in params]

    @torch.no_grad()
    def step(self, rate):
        self.t += 1
        for p, m, v, decay in zip(self.params, self.m, self.v, self.decays):
            g = p.grad + decay * p
            m.mul_(self.beta1).add_(g, alpha=1 - self.beta1)
            v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
            cosine2 = v.sum() ** 2 / (v.numel() * ((v * v).sum() + 1e-20))
            w = (cosine2 * v / (1 - self.beta2**self.t) + self.eps).sqrt()
            p.sub_(rate / (1 - self.beta1**self.t) * m / (w - 0.5 * w.min()))


class Groups:
    """One of PyTorch's optimisers, with a separate weight decay for each parameter."""

    def __init__(self, make, params, decays):
        self.inner = make([{"params": [p], "weight_decay": decay} for p, decay in zip(params, decays)])

    def step(self, rate):
        for group in self.inner.param_groups:
            group["lr"] = rate
        self.inner.step()


def optimizer(o, params):
    """Optimiser for options from the golden files. Without decay_all only tensors of two or more dimensions decay."""
    decays = [o["weight_decay"] if o["decay_all"] or p.dim() >= 2 else 0.0 for p in params]
    if o["optimizer"] == "setadam":
        return SetAdam(params, decays, (o["beta1"], o["beta2"]), o["eps"])
    if o["optimizer"] == "sgd":
        return Groups(lambda groups: torch.optim.SGD(groups, lr=1.0, momentum=o["momentum"]), params, decays)
    return Groups(lambda groups: torch.optim.AdamW(groups, lr=1.0, betas=(o["beta1"], o["beta2"]), eps=o["eps"]),
                  params, decays)


# --- Runs

class Trainer:
    """Trains parameters. loss(parameters, number) is the loss of micro-batch `number`, counted over the whole run."""

    def __init__(self, values, options, loss):
        self.p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=True) for key, a in values.items()}
        self.options, self.loss, self.optimizer = options, loss, optimizer(options, list(self.p.values()))

    def step(self, it, rate):
        """Mean loss of the micro-batches and global norm of their mean gradient, before clipping."""
        count, total = self.options["accumulation"], 0.0
        for q in self.p.values():
            q.grad = None
        for number in range(it * count, (it + 1) * count):
            loss = self.loss(self.p, number)
            (loss / count).backward()
            total += loss.item() / count
        limit = self.options["grad_clip"] or math.inf
        norm = torch.nn.utils.clip_grad_norm_(list(self.p.values()), limit).item()
        self.optimizer.step(rate)
        return total, norm

    def values(self):
        return {key: q.detach().numpy().copy() for key, q in self.p.items()}


def relative(found, wanted):
    return np.linalg.norm(np.subtract(found, wanted)) / np.linalg.norm(wanted)


def rounding(run, distance, weights, draws=25):
    """Condition of a run: distance(run(moved), run(weights)), a dictionary of relative differences, when each initial
    weight changes by a factor of up to 1 ± 2^-24; the median over draws, in float64. At least 2^-24, the rounding of a
    result in fp32."""
    exact = run({key: a.astype(np.float64) for key, a in weights.items()})
    rng, moved = np.random.default_rng(0), []
    for _ in range(draws):
        off = run({key: a * (1 + 2.0**-24 * rng.uniform(-1, 1, a.shape)) for key, a in weights.items()})
        moved.append(distance(off, exact))
    return {key: max(float(np.median([each[key] for each in moved])), 2.0**-24) for key in moved[0]}


def begin(shapes, rng, deviation):
    """Random weights in fp32; weights of norms are near 1."""
    return {key: (rng.normal(0, deviation, shape) + (1 if len(shape) == 1 and key.endswith("weight") else 0))
            .astype(np.float32) for key, shape in shapes}


def require_clipping(norms, options):
    """Checks that clipping changes some steps and not others, and that rounding cannot decide which."""
    ratios = np.array(norms) / options["grad_clip"]
    assert (ratios > 1).sum() >= 2 and (ratios < 1).sum() >= 2 and (abs(ratios - 1) > 1e-3).all(), ratios
