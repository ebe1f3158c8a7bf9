// True if x is neither infinite nor NaN. Tests bits, because compilers may assume that neither occurs.
bool finite(float x) { return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u; }
