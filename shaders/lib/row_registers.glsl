// A row in registers by pairs of neighbours: the lanes side by side, STRIP pairs each. A row wider than 2 · GROUP ·
// STRIP comes in several strips. The width is a constant so that a row of one strip needs no bounds but at its end.
// With LANES_PER_ROW so many neighbouring lanes of a subgroup, a power of two, have a row of their own instead.
//
// A kernel of attention has WIDTH and LAYOUT already, the former by another name, which it defines WIDTH as.
#include "lib/vector_layout.glsl"

#ifndef WIDTH
layout(constant_id = 2) const uint WIDTH = 64;
layout(constant_id = 4) const uint LAYOUT = SCALAR;  // of every tensor but those with a form of their own
#endif
layout(constant_id = 27) const uint STRIP = 4;
layout(constant_id = 10) const uint LANES_PER_ROW = 0;

const uint LANES = LANES_PER_ROW > 0 ? LANES_PER_ROW : GROUP;  // along a row
const uint STRIPS = (WIDTH + 2 * LANES * STRIP - 1) / (2 * LANES * STRIP);

// The first column of pair k.
uint column(uint strip, uint k) {
    const uint place = LANES_PER_ROW > 0 ? gl_SubgroupInvocationID % LANES : gl_LocalInvocationID.x;
    return 2 * ((strip * STRIP + k) * LANES + place);
}

// Whether no lane's pair k reaches past the end, known before the kernel runs.
bool surely_inside(uint k) { return STRIPS == 1 && 2 * (k + 1) * LANES <= WIDTH; }

// The pair's value, with zeros for what is past the end.
vec2 in_row(uint strip, uint k, vec2 value) {
    const uint c = column(strip, k);
    return surely_inside(k) ? value : vec2(c < WIDTH ? value.x : 0.0, c + 1 < WIDTH ? value.y : 0.0);
}

// Where the row is that begins with element `at` of x, and how far from there it begins. A CPU device makes each lane's
// address once, a GPU adds an offset to one that all lanes share as it loads.
In row_in(In x, uint at) { return CPU ? In(uint64_t(x) + uint64_t(at) * (packed(LAYOUT) ? 2 : 4)) : x; }
Out row_out(Out x, uint at) { return CPU ? Out(uint64_t(x) + uint64_t(at) * (packed(LAYOUT) ? 2 : 4)) : x; }
uint row_at(uint at) { return CPU ? 0 : at; }

float sum_of(vec2 pair) { return pair.x + pair.y; }

// x[at .. at + WIDTH) of this lane and strip, with zeros past the end.
void load_strip(In x, uint at, uint strip, uint form, out vec2 values[STRIP]) {
    [[unroll]] for (uint k = 0; k < STRIP; ++k) {
        const uint c = column(strip, k);
        if (surely_inside(k)) {
            values[k] = load_two(x, at + c, form);
        } else if (form != SCALAR) {
            values[k] = load_two(x, at + (c < WIDTH ? c : 0), form);
            if (c >= WIDTH) values[k] = vec2(0.0);
        } else {
            values[k].x = x.at[at + min(c, WIDTH - 1)];
            values[k].y = x.at[at + min(c + 1, WIDTH - 1)];
            if (c >= WIDTH) values[k].x = 0.0;
            if (c + 1 >= WIDTH) values[k].y = 0.0;
        }
    }
}

void load_strip(In x, uint at, uint strip, out vec2 values[STRIP]) {
    load_strip(x, at, strip, LAYOUT, values);
}

// The same, where lanes have rows of their own.
void load_row(In x, uint at, uint strip, out vec2 values[STRIP]) {
    load_strip(row_in(x, at), row_at(at), strip, values);
}

// load_strip in two steps, for a row of one strip: fetch_strip issues the loads, take_strip converts. To convert at
// once would wait for the loads.
void fetch_strip(In x, uint at, uint form, out uvec2 words[STRIP]) {
    [[unroll]] for (uint k = 0; k < STRIP; ++k) {
        const uint c = column(0, k), inside = surely_inside(k) || c < WIDTH ? c : 0;
        if (packed(form)) words[k] = uvec2(InWord(x).at[(at + inside) / 2], 0);
        else if (form == VEC2) words[k] = unpackUint2x32(InWide(x).at[(at + inside) / 2]);
        else words[k] = floatBitsToUint(vec2(x.at[at + min(c, WIDTH - 1)], x.at[at + min(c + 1, WIDTH - 1)]));
    }
}

void take_strip(uvec2 words[STRIP], uint form, out vec2 values[STRIP]) {
    [[unroll]] for (uint k = 0; k < STRIP; ++k)
        values[k] = in_row(0, k, packed(form) ? unpack(words[k].x, form) : uintBitsToFloat(words[k]));
}

// Pair k of this lane and strip into y[at .. at + WIDTH).
void store_pair(Out y, uint at, uint strip, uint k, vec2 value, uint form) {
    const uint c = column(strip, k);
    if (surely_inside(k) || (form != SCALAR && c < WIDTH)) {
        store_two(y, at + c, value, form);
    } else if (form == SCALAR) {
        if (c < WIDTH) y.at[at + c] = value.x;
        if (c + 1 < WIDTH) y.at[at + c + 1] = value.y;
    }
}

void store_pair(Out y, uint at, uint strip, uint k, vec2 value) {
    store_pair(y, at, strip, k, value, LAYOUT);
}
