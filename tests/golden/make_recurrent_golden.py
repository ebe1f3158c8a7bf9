#!/usr/bin/python3
"""Makes recurrent/: layers of torch.nn.RNN, LSTM and GRU in float64, with sequences of different lengths.

  tests/golden/make_recurrent_golden.py        (Debian's python3-torch and python3-numpy)

NAME.safetensors has x [B, T, I], lengths [B] and, for each direction (forward., reverse.), weight_ih, weight_hh,
bias_ih, bias_hh and the state before the first step: h and, of an LSTM, c. It also has the results of one
bidirectional layer of packed sequences: each direction's outputs [B, T, H], 0 at padding, and last states; and
grad.NAME, the gradients of sum(outputs * d_outputs) + sum(last * d_last). Operands are numbers that fp32 has; results
are rounded once."""
import os

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from make_golden import save

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recurrent")
LENGTHS, STEPS, INPUTS, UNITS = [3, 7, 1, 6, 7], 7, 4, 9
LAYERS = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
DIRECTIONS = {"forward": "", "reverse": "_reverse"}
PARAMETERS = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]


def rounded(*shape):
    """Normal numbers that fp32 has, in float64."""
    return torch.randn(*shape).float().double()


def make(name):
    torch.manual_seed(11)
    layer = LAYERS[name](INPUTS, UNITS, batch_first=True, bidirectional=True).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(0.5 * rounded(*parameter.shape))
    batch, states = len(LENGTHS), ["h", "c"] if name == "lstm" else ["h"]
    x = rounded(batch, STEPS, INPUTS).requires_grad_()
    first = [rounded(2, batch, UNITS).requires_grad_() for _ in states]
    d_outputs, d_last = rounded(batch, STEPS, 2 * UNITS), [rounded(2, batch, UNITS) for _ in states]

    packed = pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False)
    outputs, last = layer(packed, tuple(first) if name == "lstm" else first[0])
    outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=STEPS)
    last = last if name == "lstm" else (last,)
    total = (outputs * d_outputs).sum() + sum((a * b).sum() for a, b in zip(last, d_last))
    total.backward()

    tensors = {"x": x, "lengths": torch.tensor(LENGTHS), "grad.x": x.grad}
    for k, (direction, suffix) in enumerate(DIRECTIONS.items()):
        for parameter in PARAMETERS:
            value = getattr(layer, f"{parameter}_l0{suffix}")
            tensors[f"{direction}.{parameter}"], tensors[f"grad.{direction}.{parameter}"] = value, value.grad
        columns = slice(k * UNITS, (k + 1) * UNITS)
        tensors[f"{direction}.outputs"] = outputs[..., columns]
        tensors[f"{direction}.d_outputs"] = d_outputs[..., columns]
        for state, before, after, d in zip(states, first, last, d_last):
            tensors[f"{direction}.{state}"], tensors[f"grad.{direction}.{state}"] = before[k], before.grad[k]
            tensors[f"{direction}.last_{state}"], tensors[f"{direction}.d_last_{state}"] = after[k], d[k]
    arrays = {key: value.detach().numpy() for key, value in tensors.items()}
    save(os.path.join(HERE, name + ".safetensors"),
         {key: a.astype(np.float32) if a.dtype == np.float64 else a for key, a in arrays.items()})


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    for case in LAYERS:
        make(case)
