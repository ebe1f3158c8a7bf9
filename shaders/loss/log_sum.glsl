// max x and Σ exp(x − max) over a row, reading every element once.
//
// A lane takes BLOCK pairs at a time, neighbouring pairs being in neighbouring lanes, and rescales its sum once per
// block: 1 + 1/BLOCK exponentials per element. Expects group.glsl, exponential.glsl and vec2_loop.glsl.
// Numerics: a block is added up before it is added to the lane's sum, so the rounding error grows with the number of
// blocks.

layout(constant_id = 2) const uint BLOCK = 4;
layout(constant_id = 3) const uint LAYOUT = SCALAR;  // layout of the rows, which may start at odd elements

struct LogSum {
    float top;
    float sum;
};

// Adds the lane's BLOCK pairs from column j on, if they are before `end`, which is even.
void absorb(inout LogSum of, In x, uint at, uint j, uint end, bool whole) {
    vec2 block[BLOCK];
    float top = of.top;
    [[unroll]] for (uint b = 0; b < BLOCK; ++b) {
        const uint i = j + 2 * b * GROUP;
        block[b] = load_two(x, at + (whole || i < end ? i : 0), LAYOUT);
        if (!whole && i >= end) block[b] = vec2(HIDDEN);
        top = larger(block[b].x, larger(block[b].y, top));
    }
    float sum = 0.0;
    [[unroll]] for (uint b = 0; b < BLOCK; ++b) sum += exp_below(block[b].x - top) + exp_below(block[b].y - top);
    of.sum = of.sum * exp_below(of.top - top) + sum;
    of.top = top;
}

// LogSum of x[at .. at + end), in all invocations. With no elements top = LOWEST and sum = 0.
LogSum log_sum(In x, uint at, uint end) {
    LogSum of = LogSum(LOWEST, 0.0);
    const uint lead = min(lead_of(at, LAYOUT), end);
    const uint pairs = at + lead, pairs_end = (end - lead) / 2 * 2;
    const uint step = 2 * GROUP * BLOCK;
    const uint whole = pairs_end / step * step;
    const uint lane = 2 * gl_LocalInvocationID.x;
    for (uint first = 0; first < whole; first += step) absorb(of, x, pairs, first + lane, pairs_end, true);
    if (whole < pairs_end) absorb(of, x, pairs, whole + lane, pairs_end, false);
    const float before = lead != 0 && lane == 0 ? x.at[at] : HIDDEN;
    const float after = odd_end(lead, end) ? x.at[at + end - 1] : HIDDEN;
    const float top = group_max(larger(before, larger(after, of.top)));
    const float alone = exp_below(before - top) + exp_below(after - top);
    return LogSum(top, group_sum(of.sum * exp_below(of.top - top) + alone));
}
