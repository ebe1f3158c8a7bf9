// A row in registers by pairs of neighbours: STRIP pairs per lane, neighbouring pairs in neighbouring lanes. A row
// wider than 2 · GROUP · STRIP is divided into several strips. The width is a constant so that a row of one strip is
// checked for bounds only at its end. With LANES_PER_ROW > 0, a power of two, this number of neighbouring lanes of a
// subgroup has a row instead of the workgroup.
//
// Kernels with attention/attention_options.glsl have the constant LAYOUT already and define WIDTH as D_V.
#include "lib/vector_layout.glsl"

#ifndef WIDTH
layout(constant_id = 2) const uint WIDTH = 64;
layout(constant_id = 4) const uint LAYOUT = SCALAR;  // layout of all tensors without their own
#endif
layout(constant_id = 27) const uint STRIP = 4;
layout(constant_id = 10) const uint LANES_PER_ROW = 0;

const uint LANES = LANES_PER_ROW > 0 ? LANES_PER_ROW : GROUP;  // along a row
const uint STRIPS = (WIDTH + 2 * LANES * STRIP - 1) / (2 * LANES * STRIP);

// First column of the lane's pair k.
uint column(uint strip, uint k) {
    const uint place = LANES_PER_ROW > 0 ? gl_SubgroupInvocationID % LANES : gl_LocalInvocationID.x;
    return 2 * ((strip * STRIP + k) * LANES + place);
}

// True if pair k of every lane is inside the row; a constant.
bool surely_inside(uint k) { return STRIPS == 1 && 2 * (k + 1) * LANES <= WIDTH; }

// `value` of pair k, with 0 past the end of the row.
vec2 in_row(uint strip, uint k, vec2 value) {
    const uint c = column(strip, k);
    return surely_inside(k) ? value : vec2(c < WIDTH ? value.x : 0.0, c + 1 < WIDTH ? value.y : 0.0);
}

// Address of the row that begins with element `at` of x, and the row's offset from that address. CPU devices compute
// the address of each lane once; on GPUs loads add an offset to an address that all lanes share.
In row_in(In x, uint at) { return CPU ? In(uint64_t(x) + uint64_t(at) * (packed(LAYOUT) ? 2 : 4)) : x; }
Out row_out(Out x, uint at) { return CPU ? Out(uint64_t(x) + uint64_t(at) * (packed(LAYOUT) ? 2 : 4)) : x; }
uint row_at(uint at) { return CPU ? 0 : at; }

float sum_of(vec2 pair) { return pair.x + pair.y; }

// Loads this lane's pairs of a strip of x[at .. at + WIDTH), with 0 past the end.
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

// load_strip() for lanes with different rows.
void load_row(In x, uint at, uint strip, out vec2 values[STRIP]) {
    load_strip(row_in(x, at), row_at(at), strip, values);
}

// load_strip in two steps, for a row of one strip: fetch_strip issues the loads, take_strip converts. Converting at
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

// Stores this lane's pair k of a strip to y[at .. at + WIDTH).
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
