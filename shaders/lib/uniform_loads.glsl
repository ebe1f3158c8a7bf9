// Loads neighbouring elements to neighbouring lanes by one vector load of a CPU device.
//
// lavapipe compiles a load to a gather, dozens of instructions, even if the processor could load one vector. If
// lavapipe knows that all lanes read the same address, and that all are active, it loads one number and copies it to
// all lanes. If each lane then keeps its own of several such numbers, LLVM finds that together they are one vector in
// memory. (Mesa 25.0: emit_load_global and nir_src_is_always_uniform.) Therefore:
//   - Addresses consist of constants and push constants. The index of a workgroup is neither, but a push constant is
//     known to be uniform for any index into it: known_uniform() looks the index of the workgroup up, two bits at a
//     time, in the kernel's argument `digits`, which the runtime fills in.
//   - Loads are outside loops and branches: repetitions are unrolled, differences are selected.
// On other devices the same code is as many loads as a subgroup has lanes. Hosts choose such kernels if
// DeviceTraits::uniform_loads is set.

#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// `value`, equal in all lanes and below 2^bits, known to the compiler as uniform.
uint known_uniform(uint value, const uint bits) {
    uint known = 0;
    [[unroll]] for (uint bit = 0; bit < bits; bit += 2) known |= digits[value >> bit & 3] << bit;
    return known;
}

// x without its first `elements` elements.
In from(In x, uint elements) { return In(uint64_t(x) + 4 * uint64_t(elements)); }

// Loads x[first .. first + count) to the first lanes, 0 to the others. x is known to be uniform, `first` is a multiple
// of 4. Loads of four compile in less time.
float load_lanes(In x, const uint first, const uint count) {
    const uint lane = gl_SubgroupInvocationID;
    float own = 0.0;
    [[unroll]] for (uint i = 0; i + 4 <= min(count, SUBGROUP); i += 4) {
        const vec4 four = In4(x).at[(first + i) / 4];
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const float one = four[j];  // loaded before the selection: selecting between expressions is a branch
            own = lane == i + j ? one : own;
        }
    }
    [[unroll]] for (uint i = count / 4 * 4; i < min(count, SUBGROUP); ++i) {
        const float one = x.at[first + i];
        own = lane == i ? one : own;
    }
    return own;
}
