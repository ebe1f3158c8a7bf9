#version 460
// Draws the next token of each row of logits [B, V] with the row's parameters (runtime/ops/sampling/sample.h).
//
// Owner: a workgroup has a row, each lane its own tokens, interleaved or in sections. If PREPARED, an earlier launch of
//   many workgroups has computed the words of the row's logits (lib/ordered.glsl) and their weights.
// Numerics: weights of tokens and their sums are integers (sampling/sample_weight.glsl), so the order of additions does
//   not matter. Tokens are not sorted: a radix search finds the logit at which the sum from the largest logit on
//   reaches a limit. It sums the weights of all tokens with equal next eight bits of their words, which determines the
//   next eight bits of the word searched for.
#include "lib/args.glsl"
#include "lib/ordered.glsl"
#include "sampling/sample_weight.glsl"
#include "sampling/sample_row.glsl"

layout(constant_id = 2) const bool PREPARED = false;  // sample_maxima and sample_weights have run

layout(push_constant) uniform Args {
    In x;
    InInt rows;
    InInt seen;
    InInt maxima;
    InInt keys;
    InInt weights;
    OutInt tokens;
    OutInt others;
    uint width;
    uint x_pitch;
    uint seen_pitch;
    uint sections;
};

const Scale NATURAL = Scale(0xaa3b295cu, 0xb8u, -39);  // log2(e)

uint row = group_index(), lane = gl_LocalInvocationID.x;
SampleRow of;
float greatest;        // largest logit that may be drawn
uint least_key = 0;    // tokens with smaller words are not drawn,
uint last_equal = NONE;  // tokens with this word only up to this one
uint64_t least_weight = 0ul;

float own_logit(uint i) { return x.at[row * x_pitch + i]; }
float logit(uint i) { return rescaled_logit(of, own_logit(i), seen, row * seen_pitch, i); }

uint key_of(uint i) { return PREPARED ? uint(keys.at[row * width + i]) : ordered(logit(i)); }

// Weight of token i, whose word is `key`.
uint64_t weight_of(uint i, uint key) {
    if (!PREPARED) return weight_below(greatest, from_ordered(key), of.steepness);
    const uint at = 2 * (row * width + i);
    return wide(uint(weights.at[at]), uint(weights.at[at + 1]));
}

// Measures of tokens that sums are taken over.
const uint ONE = 0;     // 1
const uint WEIGHT = 1;  // weight
const uint EQUALS = 2;  // weight of tokens whose word is least_key, else 0
const uint DRAWN = 3;   // weight of tokens that may be drawn, else 0

uint64_t measure(uint kind, uint i) {
    const uint key = key_of(i);
    if (key < least_key || (kind == EQUALS && key > least_key)) return 0ul;
    if (kind == ONE) return 1ul;
    if (kind == DRAWN && key == least_key && i > last_equal) return 0ul;
    const uint64_t w = weight_of(i, key);
    return kind == DRAWN && w < least_weight ? 0ul : w;
}

shared uint sum_low[GROUP], sum_high[GROUP];    // sum of each lane
shared uint digit_low[256], digit_high[256];  // sum of the tokens with each digit

// Sum of `own` over all lanes.
uint64_t group_total(uint64_t own) {
    barrier();  // earlier sums may still be read
    sum_low[lane] = uint(own);
    sum_high[lane] = uint(own >> 32);
    barrier();
    uint64_t total = 0ul;
    for (uint i = 0; i < GROUP; ++i) total += wide(sum_low[i], sum_high[i]);
    return total;
}

uint64_t total_of(uint kind) {
    uint64_t own = 0ul;
    for (uint i = lane; i < of.vocabulary; i += GROUP) own += measure(kind, i);
    return group_total(own);
}

// Word at which the sum of the measures of all tokens, from the largest logit on, reaches `wanted`. Subtracts the
// measures of tokens with larger words from `wanted`.
uint threshold(uint kind, inout uint64_t wanted) {
    uint prefix = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        barrier();
        for (uint d = lane; d < 256; d += GROUP) digit_low[d] = digit_high[d] = 0;
        barrier();
        for (uint i = lane; i < of.vocabulary; i += GROUP) {
            const uint key = key_of(i);
            if (shift < 24 && key >> (shift + 8) != prefix) continue;
            const uint64_t m = measure(kind, i);
            if (m == 0ul) continue;
            const uint digit = key >> shift & 255u, low = uint(m);
            const uint before = atomicAdd(digit_low[digit], low);
            const uint high = uint(m >> 32) + (before + low < before ? 1u : 0u);
            if (high != 0) atomicAdd(digit_high[digit], high);
        }
        barrier();
        uint digit = 255;
        for (; digit > 0; --digit) {
            const uint64_t sum = wide(digit_low[digit], digit_high[digit]);
            if (sum >= wanted) break;
            wanted -= sum;
        }
        prefix = prefix << 8 | digit;
    }
    return prefix;
}

// First token at which the sum of the measures reaches `wanted`. Each lane adds up a section, and the section that
// contains the token is divided again.
uint place_of(uint kind, uint64_t wanted) {
    uint first = 0, count = of.vocabulary;
    while (count > 1) {
        const uint each = (count + GROUP - 1) / GROUP, begin = min(lane * each, count);
        const uint end = min(begin + each, count);
        uint64_t own = 0ul;
        for (uint i = begin; i < end; ++i) own += measure(kind, first + i);
        barrier();
        sum_low[lane] = uint(own);
        sum_high[lane] = uint(own >> 32);
        barrier();
        uint section = 0;
        for (; section < GROUP - 1; ++section) {
            const uint64_t sum = wide(sum_low[section], sum_high[section]);
            if (sum >= wanted) break;
            wanted -= sum;
        }
        first += section * each;
        count = min(each, count - section * each);
    }
    return first;
}

// Keeps the k largest logits and those equal to the last, of these the likeliest tokens whose sum reaches p, of these
// the tokens that are likely enough, and draws one of them. A loop over stages, because drivers inline every call, and
// one copy of each sum compiles faster than two.
const uint TOP = 0, NUCLEUS = 1, DRAW = 2;

uint draw() {
    const uint64_t p = wide(of.nucleus_low, of.nucleus_high);
    uint token = NONE;
    [[dont_unroll]] for (uint stage = TOP; stage <= DRAW; ++stage) {
        if (stage == TOP && (of.top_k == 0 || of.top_k >= of.vocabulary)) continue;
        if (stage == NUCLEUS && p == 0ul) continue;
        if (stage == DRAW) least_weight = wide(of.least_low, of.least_high);
        uint64_t wanted = uint64_t(of.top_k);
        if (stage != TOP) {
            const uint64_t total = total_of(stage == NUCLEUS ? WEIGHT : DRAWN);
            const uint64_t share = stage == NUCLEUS ? p : wide(of.random_low, of.random_high);
            wanted = upper_product(share, total) + (stage == DRAW || share * total != 0ul ? 1ul : 0ul);
        }
        if (stage != DRAW) least_key = threshold(stage == TOP ? ONE : WEIGHT, wanted);
        if (stage != TOP) token = place_of(stage == NUCLEUS ? EQUALS : DRAWN, wanted);
        if (stage == NUCLEUS) last_equal = token;
    }
    return token;
}

void store(uint token, float own, float most, uint64_t sum) {
    if (lane > 0) return;
    tokens.at[row] = int(token);
    others.at[row * 4] = floatBitsToInt(own);
    others.at[row * 4 + 1] = floatBitsToInt(most);
    others.at[row * 4 + 2] = int(uint(sum));
    others.at[row * 4 + 3] = int(sum >> 32);
}

void main() {
    of = InSampleRow(rows).at[row];
    Maxima found = Maxima(0, 0, NONE);
    if (PREPARED)
        for (uint i = lane; i < sections; i += GROUP) found = joined(found, maxima_at(maxima, row * sections + i));
    else
        found = section_maxima(of, x, row * x_pitch, seen, row * seen_pitch, lane, GROUP, width);
    found = group_maxima(found);
    const uint top = found.top, bad = found.bad;
    if (of.vocabulary == 0) {
        store(NONE, 0.0, 0.0, 0ul);
        return;
    }
    if (bad != NONE) {
        store(~bad, own_logit(bad), 0.0, 0ul);
        return;
    }

    greatest = from_ordered(top);
    uint token = NONE;
    if (of.steepness.high == 0) {
        for (uint i = lane; i < of.vocabulary; i += GROUP)
            if (key_of(i) == top) token = min(token, i);
        token = group_min(token);
    } else {
        token = draw();
    }

    float own_greatest = 0.0;
    uint64_t sum = 0ul;
    if (of.log_probability != 0) {
        own_greatest = from_ordered(found.own_top);
        for (uint i = lane; i < width; i += GROUP) sum += weight_below(own_greatest, own_logit(i), NATURAL);
        sum = group_total(sum);
    }
    store(token, own_logit(token), own_greatest, sum);
}
