// Dropout mask of attention probabilities. Expects `optional`, `salt` and `drop` among the Args.

uvec2 dropout_key = DROPOUT ? uvec2(optional.at[0].seed.at[0], optional.at[0].seed.at[1]) : uvec2(0);

// The dropout bits of a pair are a hash of two words, one per query and one per key, each a Philox of the seed. A hash
// costs ten operations per pair, a Philox a hundred, and every kernel can compute them in its own order.
uint query_word(uint batch_head, uint query) { return philox(uvec4(query, batch_head, salt, 1), dropout_key).x; }

uint key_word(uint batch_head, uint key) { return philox(uvec4(key, batch_head, salt, 2), dropout_key).x; }

// 1 / (1 - drop) if the pair is kept, else 0. The hash is lowbias32 by C. Wellons.
float kept(uint query_word, uint key_word) {
    uint x = query_word + key_word;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return dropout_factor(x ^ (x >> 16), drop);
}
