// Loads x[first] and x[second], for the kernels that give each lane two columns. Unless `form` is SCALAR, second =
// first + 1.
vec2 load_vec2(uint form, In x, uint first, uint second) {
    if (form != SCALAR) return load_two(x, first, form);
    return vec2(x.at[first], x.at[second]);
}
