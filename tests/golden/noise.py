"""The program's random numbers, computed in numpy: functions of seed, name and index.

Written from the specification in runtime/base/random.h. Names are hashed by FNV-1a. Philox4x32-10 with (hash, index) as
its counter and the seed as its key gives four words. For a micro-batch's dropout the first two words are the key:
element e at a place whose name has hash h is dropped if the upper 24 bits of word e % 4 of
Philox(counter (e // 4, 0, h mod 2^32, 0), key) are below the rate. For a stream of numbers the first two words are the
key, the other two are the counter's upper half, and the counter's lower half counts blocks of four."""
import numpy as np

LOW = np.uint64(0xFFFFFFFF)
WORD = np.uint64(32)


def philox(counter, key):
    """Four words for each counter [4, ...]; words are uint64 below 2^32. Salmon et al. (SC 2011), section 3.3."""
    c0, c1, c2, c3 = (np.asarray(word, np.uint64) for word in counter)
    k0, k1 = key
    for _ in range(10):
        product0, product1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = ((product1 >> WORD) ^ c1 ^ np.uint64(k0), product1 & LOW,
                          (product0 >> WORD) ^ c3 ^ np.uint64(k1), product0 & LOW)
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return np.stack([c0, c1, c2, c3])


def hashed(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def words(number):
    return number % 2**32, number >> 32


class Noise:
    """Factors of one micro-batch's dropout. Rates are fp32, as in the program."""

    def __init__(self, dropout, drop_path, seed, micro_batch, drop_path_ramp=False):
        self.dropout, self.drop_path, self.ramp = np.float32(dropout), np.float32(drop_path), drop_path_ramp
        bits = philox([*words(hashed("dropout")), *words(micro_batch)], words(seed))
        self.key = int(bits[0]), int(bits[1])

    def factors(self, place, rate, shape):
        """0 or 1 / (1 - rate) for every element of a shape, float64."""
        count = int(np.prod(shape))
        blocks = np.arange((count + 3) // 4, dtype=np.uint64)
        still = np.zeros_like(blocks)
        bits = philox([blocks, still, still + np.uint64(hashed(place) % 2**32), still], self.key).T.reshape(-1)[:count]
        kept = (bits >> np.uint64(8)).astype(np.float64) * 2.0**-24 >= np.float64(rate)
        return (kept / (1.0 - np.float64(rate))).reshape(shape)

    def elements(self, place, shape):
        return self.factors(place, self.dropout, shape)

    def samples(self, place, batch, depth=1.0):
        """One factor for each sample of a branch: stochastic depth. With a ramp, its rate grows with the depth of the
        branch's block, from 0 for the first to 1 for the last."""
        rate = self.drop_path * np.float32(depth) if self.ramp else self.drop_path
        return self.factors(place + ".path", rate, (batch,))


class Stream:
    """Numbers that belong to (seed, name, index): batches, permutations, MixUp and CutMix."""

    def __init__(self, seed, name, index=0):
        bits = [int(word) for word in philox([*words(hashed(name)), *words(index)], words(seed))]
        self.key, self.upper, self.blocks, self.left = bits[:2], bits[2:], 0, []

    def bits(self):
        if not self.left:
            self.left = [int(word) for word in philox([*words(self.blocks), *self.upper], self.key)]
            self.blocks += 1
        return self.left.pop(0)

    def uniform(self):
        """[0, 1) in steps of 2^-24."""
        return (self.bits() >> 8) * 2.0**-24

    def below(self, n):
        """0 ... n - 1, unbiased: 64-bit draws below 2^64 mod n are rejected."""
        while True:
            drawn = self.bits() << 32 | self.bits()
            if drawn >= 2**64 % n:
                return drawn % n

    def permutation(self, n):
        """Fisher-Yates shuffle, from the end."""
        order = list(range(n))
        for left in range(n, 1, -1):
            i = self.below(left)
            order[left - 1], order[i] = order[i], order[left - 1]
        return order
