// max x and Σ exp(x − max) over a row, reading every element once.
//
// A lane takes BLOCK elements at a time, the lanes side by side, and rescales its sum when a block brings a new
// maximum: 1 + 1/BLOCK exponentials per element. Expects group.glsl and exponential.glsl.
// Numerics: a block is added up before it joins the lane's sum, so the rounding error grows with the number of blocks.

layout(constant_id = 2) const uint BLOCK = 8;

struct LogSum {
    float top;
    float sum;
};

void absorb(inout LogSum of, In x, uint at, uint j, uint end, uint skip, bool whole) {
    float block[BLOCK];
    float top = of.top;
    [[unroll]] for (uint b = 0; b < BLOCK; ++b) {
        const uint i = j + b * GROUP;
        block[b] = x.at[at + (whole ? i : min(i, end - 1))];
        if ((!whole && i >= end) || i == skip) block[b] = HIDDEN;
        top = max(top, block[b]);
    }
    float sum = 0.0;
    [[unroll]] for (uint b = 0; b < BLOCK; ++b) sum += exp_below(block[b] - top);
    of.sum = of.sum * exp_below(of.top - top) + sum;
    of.top = top;
}

// Over x[at .. at + end) but for element `skip` (none if it is not below end), the same for the
// whole workgroup. Of no elements: top = LOWEST, sum = 0.
LogSum log_sum(In x, uint at, uint end, uint skip) {
    LogSum of = LogSum(LOWEST, 0.0);
    const uint whole = end / (GROUP * BLOCK) * (GROUP * BLOCK);
    for (uint first = 0; first < whole; first += GROUP * BLOCK)
        absorb(of, x, at, first + gl_LocalInvocationID.x, end, skip, true);
    if (whole < end) absorb(of, x, at, whole + gl_LocalInvocationID.x, end, skip, false);
    const float top = group_max(of.top);
    return LogSum(top, group_sum(of.sum * exp_below(of.top - top)));
}
