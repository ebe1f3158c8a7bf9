// Replacement of lib/coopmat2_tensor.glsl for a workgroup of one subgroup on devices without tensor layouts: matrices
// pass through shared memory, two elements at a time. It is slow; with it, tests check the rest of the kernels.
//
// The kernel defines STAGED, the number of elements of its largest matrix.
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

shared uint staged[STAGED];  // two of ELEMENT when loading, one fp32 when storing

// Copies a slice of x to shared memory. Unless `clamped`, elements past `end` are read as they are, so tests find
// kernels that need 0 there.
void stage(In x, uint form, uint base, uint pitch, uvec2 end, uvec2 from, uvec2 extent, bool clamped) {
    barrier();  // all have loaded the previous matrix
    for (uint i = gl_LocalInvocationID.x; i < extent.x * extent.y / 2; i += GROUP) {
        const uvec2 at = from + uvec2(2 * i / extent.y, 2 * i % extent.y);
        vec2 pair = vec2(0.0);
        if (!clamped || (at.x < end.x && at.y < end.y))
            pair = load_some(x, base + at.x * pitch + at.y, !clamped || at.y + 1 < end.y, form);
        staged[i] = pack(pair);
    }
    barrier();
}

void unstage(Out y, uint form, uint base, uint pitch, uvec2 end, uvec2 from, uvec2 extent) {
    for (uint i = gl_LocalInvocationID.x; i < extent.x * extent.y / 2; i += GROUP) {
        const uvec2 at = from + uvec2(2 * i / extent.y, 2 * i % extent.y);
        if (at.x < end.x && at.y < end.y)
            store_some(y, base + at.x * pitch + at.y, uintBitsToFloat(uvec2(staged[2 * i], staged[2 * i + 1])),
                       at.y + 1 < end.y, form);
    }
}

#define LOAD_BY(clamped, order, matrix, memory, form, base, pitch, end, from, extent)                                 \
    {                                                                                                                 \
        stage(memory, form, base, pitch, end, from, extent, clamped);                                                 \
        coopMatLoad(matrix, staged, 0, (extent).y / 2, order);                                                        \
    }

#define LOAD_LINES(matrix, memory, form, aligned, base, pitch, end, from, extent)                                     \
    LOAD_BY(true, gl_CooperativeMatrixLayoutRowMajor, matrix, memory, form, base, pitch, end, from, extent)
#define LOAD_COLUMNS(matrix, memory, form, aligned, base, pitch, end, from, extent)                                   \
    LOAD_BY(true, gl_CooperativeMatrixLayoutColumnMajor, matrix, memory, form, base, pitch, end, from, extent)
#define LOAD_LINES_INSIDE(matrix, memory, form, aligned, base, pitch, end, from, extent)                              \
    LOAD_BY(false, gl_CooperativeMatrixLayoutRowMajor, matrix, memory, form, base, pitch, end, from, extent)
#define LOAD_COLUMNS_INSIDE(matrix, memory, form, aligned, base, pitch, end, from, extent)                            \
    LOAD_BY(false, gl_CooperativeMatrixLayoutColumnMajor, matrix, memory, form, base, pitch, end, from, extent)

#define STORE_LINES(matrix, memory, form, aligned, base, pitch, end, from, extent)                                    \
    {                                                                                                                 \
        barrier();                                                                                                    \
        coopMatStore(matrix, staged, 0, (extent).y, gl_CooperativeMatrixLayoutRowMajor);                              \
        barrier();                                                                                                    \
        unstage(memory, form, base, pitch, end, from, extent);                                                        \
    }
