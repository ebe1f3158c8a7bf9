// Neighbouring elements to neighbouring lanes, by one load of a CPU device.
//
// lavapipe makes a gather of a load, whatever its lanes read: dozens of instructions for what the processor could load
// as one vector. But where it knows that all lanes read the same address, and that all are active, it loads one number
// and hands it to all lanes; and when each lane then keeps the number that is its own, LLVM finds that these are one
// vector in memory. (Mesa 25.0: emit_load_global and nir_src_is_always_uniform.) So:
//   - Addresses are made of constants and push constants. A workgroup's number is neither, but a push constant is one
//     whatever its index: known_uniform() looks the number up, two bits at a time, in the kernel's argument `digits`,
//     which the runtime fills in.
//   - Loads stand outside loops and branches: whatever repeats is unrolled, whatever differs is selected.
// Elsewhere the same code is as many loads as a subgroup has lanes. Hosts choose such kernels where
// DeviceTraits::uniform_loads is set.

#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// value, which all lanes have alike and which has so many bits.
uint known_uniform(uint value, const uint bits) {
    uint known = 0;
    [[unroll]] for (uint bit = 0; bit < bits; bit += 2) known |= digits[value >> bit & 3] << bit;
    return known;
}

// x without its first elements.
In from(In x, uint elements) { return In(uint64_t(x) + 4 * uint64_t(elements)); }

// x[first .. first + count) to the first lanes, 0 to the others; x is known to be uniform, first a multiple of 4. Read
// by fours, which compiles in less time.
float load_lanes(In x, const uint first, const uint count) {
    const uint lane = gl_SubgroupInvocationID;
    float own = 0.0;
    [[unroll]] for (uint i = 0; i + 4 <= min(count, SUBGROUP); i += 4) {
        const vec4 four = In4(x).at[(first + i) / 4];
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const float one = four[j];  // before it is chosen: a choice of expressions is a branch
            own = lane == i + j ? one : own;
        }
    }
    [[unroll]] for (uint i = count / 4 * 4; i < min(count, SUBGROUP); ++i) {
        const float one = x.at[first + i];
        own = lane == i ? one : own;
    }
    return own;
}
