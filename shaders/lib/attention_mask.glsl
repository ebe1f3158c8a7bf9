// Which keys a query sees, and which of its probabilities dropout keeps. Expects exponential.glsl,
// and `seed`, `salt` and `drop` among the Args.

const float LOG2_E = 1.44269504, LN_2 = 0.693147181;

bool visible(int key, int position) {
    return (!CAUSAL || key <= position) && (!MASK_DIAGONAL || key != position);
}

// Whether a causal query sees one key only: its probability is 1 whatever the logit, so no gradient flows
// through it, and <g, v> - delta, which are equal, must not leave rounding noise there.
bool lone(int position) { return CAUSAL && position == (MASK_DIAGONAL ? 1 : 0); }

// Dropout's bits for a pair are mixed from two words, one per query and one per key, each a Philox of the
// seed: ten operations a pair instead of a hundred, and every kernel can make them in its own order.
uint query_word(uint plane, uint query) {
    return philox(uvec4(query, plane, salt, 1), uvec2(seed.at[0], seed.at[1])).x;
}

uint key_word(uint plane, uint key) {
    return philox(uvec4(key, plane, salt, 2), uvec2(seed.at[0], seed.at[1])).x;
}

// 1 / (1 - drop) if the pair is kept, else 0; mixed by the hash lowbias32 of C. Wellons.
float kept(uint query_word, uint key_word) {
    uint x = query_word + key_word;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return dropout_factor(x ^ (x >> 16), drop);
}
