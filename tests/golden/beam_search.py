"""Greedy, beam and exhaustive search for the likeliest text, by brute force: no cache, every sequence computed anew.

Each takes `likelihoods(prefixes)`, a function from K sequences of one length to the log-probabilities of their next
tokens, [K, V] in float64; `eos`, the token that ends a text; and `longest`, the largest number of generated tokens, eos
included. No token is suppressed. A hypothesis of L generated tokens has the score sum / L^alpha, where `sum` is the sum
of their log-probabilities. A hypothesis that has `longest` tokens is finished, with or without eos. Functions return
also the least margin by which the search decided, so that callers can tell if rounding could decide otherwise."""
import itertools
from dataclasses import dataclass

import numpy as np


@dataclass
class Hypothesis:
    tokens: tuple  # generated tokens, with eos if it was generated
    sum: float
    score: float


def greedy(likelihoods, start, eos, longest):
    """The likeliest token at each step: a hypothesis, and the least difference to the second likeliest."""
    tokens, total, margin = (), 0.0, np.inf
    while len(tokens) < longest and eos not in tokens:
        row = likelihoods([(start, *tokens)])[0]
        second, first = np.sort(row)[-2:]
        margin, total = min(margin, first - second), total + first
        tokens += (int(np.argmax(row)),)
    return Hypothesis(tokens, total, total / len(tokens)), margin


def best(finished, count, alpha):
    """The `count` best of finished (tokens, sum), and the least difference of neighbours down to the first rejected."""
    order = sorted((Hypothesis(tokens, total, total / len(tokens) ** alpha) for tokens, total in finished),
                   key=lambda one: -one.score)
    scores = [one.score for one in order[:count + 1]]
    return order[:count], min((a - b for a, b in zip(scores, scores[1:])), default=np.inf)


def beam(likelihoods, start, eos, width, longest, alpha=1.0):
    """The `width` best hypotheses of a beam search, best first, the number of steps, and the margin.

    At each step continuations of all open hypotheses are ordered by their sums; of equal ones the lower token is first,
    then the lower beam. The first 2·width are candidates. Those that end with eos and are among the first `width` are
    finished; the first `width` of the others stay open. The search ends at `longest` tokens, or when `width` hypotheses
    are finished."""
    open_ones, finished, margin, steps = [((), 0.0)], [], np.inf, 0
    while steps < longest:
        steps += 1
        rows = likelihoods([(start, *tokens) for tokens, _ in open_ones])
        order = sorted((-(total + rows[b, token]), token, b) for b, (_, total) in enumerate(open_ones)
                       for token in range(rows.shape[1]))
        # Margins: which candidates are among the first `width`, and which of those without eos are.
        others = [one for one in order if one[1] != eos]
        for ranked in (order, others):
            if len(ranked) > width:
                margin = min(margin, ranked[width][0] - ranked[width - 1][0])
        parents, open_ones = open_ones, []
        for rank, (negative, token, b) in enumerate(order[:2 * width]):
            continued = (parents[b][0] + (token,), -negative)
            if token != eos:
                open_ones.append(continued)
            elif rank < width:
                finished.append(continued)
        open_ones = open_ones[:width]
        if len(finished) >= width:
            open_ones = []
            break
    made, gap = best(finished + open_ones, width, alpha)
    return made, steps, min(margin, gap)


def exhaustive(likelihoods, start, eos, vocabulary, count, longest, alpha=1.0):
    """The `count` best of all sequences that end with eos or have `longest` tokens, and the margin."""
    finished, open_ones = [], [((), 0.0)]
    for _ in range(longest):
        rows = likelihoods([(start, *tokens) for tokens, _ in open_ones])
        made = [(tokens + (token,), total + rows[b, token])
                for (b, (tokens, total)), token in itertools.product(enumerate(open_ones), range(vocabulary))]
        finished += [one for one in made if one[0][-1] == eos]
        open_ones = [one for one in made if one[0][-1] != eos]
    return best(finished + open_ones, count, alpha)
