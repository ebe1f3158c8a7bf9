// Sampling parameters of a row, its logits and their maxima, for the kernels that draw tokens. Include lib/ordered.glsl
// and sampling/sample_weight.glsl first.

// Equals the struct in runtime/ops/sampling/sample.h.
struct SampleRow {
    uint vocabulary;
    uint top_k;
    Scale steepness;
    Scale seen_positive;
    Scale seen_negative;
    uint nucleus_low;
    uint nucleus_high;
    uint least_low;
    uint least_high;
    uint random_low;
    uint random_high;
    uint log_probability;
};
REFERENCE readonly buffer InSampleRow { SampleRow at[]; };

const uint NONE = 0xffffffffu;

// Logit i after the repetition penalty; the row's bits of `seen` begin at word `seen_start`.
float rescaled_logit(SampleRow row, float own, InInt seen, uint seen_start, uint i) {
    if (row.seen_positive.high == 0 || (seen.at[seen_start + i / 32] >> (i % 32) & 1) == 0) return own;
    if (own > 0.0) return rescaled(own, row.seen_positive);
    return rescaled(own, row.seen_negative);
}

uint64_t weight_below(float most, float value, Scale scale) {
    precise float below = most - value;
    return weight(below, scale);
}

// Largest word of the logits that may be drawn, largest word of all of the model's logits (only if log probabilities
// are wanted), and index of the first logit that is not finite.
struct Maxima {
    uint top;
    uint own_top;
    uint bad;
};

Maxima joined(Maxima a, Maxima b) { return Maxima(max(a.top, b.top), max(a.own_top, b.own_top), min(a.bad, b.bad)); }

Maxima group_maxima(Maxima own) { return Maxima(group_max(own.top), group_max(own.own_top), group_min(own.bad)); }

// Maxima of the logits first, first + step, … before `end` of a row of x.
Maxima section_maxima(SampleRow row, In x, uint x_start, InInt seen, uint seen_start, uint first, uint step, uint end) {
    Maxima found = Maxima(0, 0, NONE);
    for (uint i = first; i < end; i += step) {
        const float own = x.at[x_start + i];
        if (row.log_probability != 0) found.own_top = max(found.own_top, ordered(own));
        if (i >= row.vocabulary) continue;
        if ((floatBitsToUint(own) & 0x7f800000u) == 0x7f800000u) found.bad = min(found.bad, i);
        found.top = max(found.top, ordered(rescaled_logit(row, own, seen, seen_start, i)));
    }
    return found;
}

Maxima maxima_at(InInt maxima, uint place) {
    return Maxima(uint(maxima.at[3 * place]), uint(maxima.at[3 * place + 1]), uint(maxima.at[3 * place + 2]));
}
