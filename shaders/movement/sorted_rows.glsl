// Sums over rows sorted by index, for the kernels of an embedding's gradient.

layout(constant_id = 2) const uint COLUMNS = 4;  // per lane, GROUP apart
layout(constant_id = 3) const uint CHUNK = 64;   // sorted rows that may be summed beforehand

const uint AHEAD = 4;  // rows loaded before any is added

uint index_at(InInt indices, InInt order, uint place, uint vocabulary) {
    return uint(clamp(indices.at[order.at[place]], 0, int(vocabulary) - 1));
}

void clear(out float sum[COLUMNS]) {
    [[unroll]] for (uint k = 0; k < COLUMNS; ++k) sum[k] = 0.0;
}

// sum += Σ d_y[order[p]] over places p in [begin, end), in order. Columns past the last read the last.
void add_rows(inout float sum[COLUMNS], InInt order, In d_y, uint begin, uint end, uint column, uint width) {
    for (uint first = begin; first < end; first += AHEAD) {
        float term[AHEAD][COLUMNS];
        [[unroll]] for (uint a = 0; a < AHEAD; ++a) {
            const uint row = uint(order.at[min(first + a, end - 1)]);
            [[unroll]] for (uint k = 0; k < COLUMNS; ++k)
                term[a][k] = d_y.at[row * width + min(column + k * GROUP, width - 1)];
        }
        [[unroll]] for (uint a = 0; a < AHEAD; ++a)
            [[unroll]] for (uint k = 0; k < COLUMNS; ++k)
                if (first + a < end) sum[k] += term[a][k];
    }
}

void store(Out y, float sum[COLUMNS], uint start, uint column, uint width) {
    [[unroll]] for (uint k = 0; k < COLUMNS; ++k)
        if (column + k * GROUP < width) y.at[start + column + k * GROUP] = sum[k];
}
