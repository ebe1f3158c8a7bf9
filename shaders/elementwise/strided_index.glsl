// Walks a row-major box in steps without a division per element: a position is a number whose digits are the
// coordinates, and a step is an addition with carries.
//
// Expects the constant AXES, at most 6, outermost axis first. The outermost extent is not read. Loops count upwards
// because Mesa unrolls only such loops, and arrays in memory are five times as slow as in registers.

uint[6] digits(uint index, uint extent[6]) {
    uint digit[6];
    [[unroll]] for (uint k = 1; k < AXES; ++k) {
        uint axis = AXES - k;
        digit[axis] = index % extent[axis];
        index /= extent[axis];
    }
    digit[0] = index;
    return digit;
}

void advance(inout uint digit[6], uint by[6], uint extent[6]) {
    uint carry = 0;
    [[unroll]] for (uint k = 1; k < AXES; ++k) {
        uint axis = AXES - k;
        digit[axis] += by[axis] + carry;
        carry = digit[axis] >= extent[axis] ? 1 : 0;
        digit[axis] -= carry * extent[axis];
    }
    digit[0] += by[0] + carry;
}

uint offset(uint digit[6], uint stride[6]) {
    uint sum = digit[0] * stride[0];
    [[unroll]] for (uint axis = 1; axis < AXES; ++axis) sum += digit[axis] * stride[axis];
    return sum;
}
