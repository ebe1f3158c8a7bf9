// A row in registers: the lanes side by side, STRIP elements each. A row wider than GROUP · STRIP
// comes in several strips, which are then read again for every sweep over the row. The width is a
// constant so that a row of one strip needs no bounds but at its end.

layout(constant_id = 2) const uint WIDTH = 64;
layout(constant_id = 3) const uint STRIP = 8;

const uint STRIPS = (WIDTH + GROUP * STRIP - 1) / (GROUP * STRIP);

uint column(uint strip, uint k) { return (strip * STRIP + k) * GROUP + gl_LocalInvocationID.x; }

bool inside(uint strip, uint k) {
    return (STRIPS == 1 && (k + 1) * GROUP <= WIDTH) || column(strip, k) < WIDTH;
}

// x[at .. at + WIDTH) of this lane and strip, with zeros past the end.
void load_strip(In x, uint at, uint strip, out float values[STRIP]) {
    [[unroll]] for (uint k = 0; k < STRIP; ++k) {
        const bool in_row = inside(strip, k);
        values[k] = x.at[at + (in_row ? column(strip, k) : 0)];
        if (!in_row) values[k] = 0.0;
    }
}
