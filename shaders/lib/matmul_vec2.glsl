// Two neighbours of a matrix for the kernels that give each lane two columns.
// x[first] and x[second], which is the next element unless they lie apart.
vec2 load_vec2(uint form, In x, uint first, uint second) {
    if (form != SCALAR) return load_two(x, first, form);
    return vec2(x.at[first], x.at[second]);
}
