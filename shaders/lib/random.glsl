// Counter-based random bits and dropout; runtime/base/random.h computes the same bits and the same mask.
//
// Nothing is stored between forward and backward: equal (key, salt, row, column) give equal bits for any tiling and on
// any device. `key` is the key of the training step (stream_key on the host), `salt` distinguishes the dropouts of one
// model, row and column are the element's. Kernels that index a tensor as flat use the overloads with one index.

// Philox4x32-10: Salmon, Moraes, Dror, Shaw (SC 2011), section 3.3.
uvec4 philox(uvec4 counter, uvec2 key) {
    [[unroll]] for (uint i = 0u; i < 10u; ++i) {
        uint a_high, a_low, b_high, b_low;
        umulExtended(0xD2511F53u, counter.x, a_high, a_low);
        umulExtended(0xCD9E8D57u, counter.z, b_high, b_low);
        counter = uvec4(b_high ^ counter.y ^ key.x, b_low, a_high ^ counter.w ^ key.y, a_low);
        key = uvec2(key.x + 0x9E3779B9u, key.y + 0xBB67AE85u);
    }
    return counter;
}

// [0, 1) in steps of 2^-24, exact.
float unit_float(uint bits) {
    return float(bits >> 8u) * 5.9604644775390625e-8f;
}

// Bits for columns 4 block … 4 block + 3 of a row: four neighbours cost one block.
uvec4 dropout_bits(uvec2 key, uint salt, uint row, uint block) {
    return philox(uvec4(block, row, salt, 0u), key);
}

float dropout_factor(uint bits, float rate) {
    return unit_float(bits) >= rate ? 1.0f / (1.0f - rate) : 0.0f;
}

vec4 dropout_scale4(uvec2 key, uint salt, uint row, uint block, float rate) {
    uvec4 bits = dropout_bits(key, salt, row, block);
    return vec4(dropout_factor(bits.x, rate), dropout_factor(bits.y, rate),
                dropout_factor(bits.z, rate), dropout_factor(bits.w, rate));
}

float dropout_scale(uvec2 key, uint salt, uint row, uint column, float rate) {
    return dropout_factor(dropout_bits(key, salt, row, column >> 2u)[column & 3u], rate);
}

float dropout_scale(uvec2 key, uint salt, uint element, float rate) {
    return dropout_scale(key, salt, 0u, element, rate);
}

bool dropout_keep(uvec2 key, uint salt, uint row, uint column, float rate) {
    return unit_float(dropout_bits(key, salt, row, column >> 2u)[column & 3u]) >= rate;
}

bool dropout_keep(uvec2 key, uint salt, uint element, float rate) {
    return dropout_keep(key, salt, 0u, element, rate);
}
