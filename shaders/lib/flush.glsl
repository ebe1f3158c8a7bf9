// Keeps slowly decaying numbers out of the subnormal range, where processors need microcode for each operation.

float flush(float x) { return abs(x) < 1e-30 ? 0.0 : x; }
