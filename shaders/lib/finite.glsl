// Neither infinite nor NaN. By its bits: a compiler may take it for granted that there is nothing but numbers.
bool finite(float x) { return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u; }
