// Keeps slowly decaying numbers out of the subnormal range, in which processors need microcode for each operation.

vec2 flush(vec2 x) { return mix(x, vec2(0.0), lessThan(abs(x), vec2(1e-30))); }

// x², or 0 if x² is below 1e-30.
vec2 square(vec2 x) { return mix(x * x, vec2(0.0), lessThan(abs(x), vec2(1e-15))); }
