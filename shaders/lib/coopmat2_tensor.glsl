// Loads and stores of a workgroup's matrices by tensor layouts, which the driver stages and pipelines. Layouts clamp at
// the edges, views transpose.
//
// A tensor's elements are fp32, rounded while they are loaded, or of the matrices' own 16-bit type; its lines are
// `pitch` elements apart. LOAD_LINES loads `extent` elements from `from` = (line, place in the line) on, 0 past `end`;
// LOAD_COLUMNS loads the transpose; STORE_LINES does not store elements past `end`. The constant `aligned` promises
// that lines of 16-bit elements start at multiples of 16 bytes, which makes them faster. LOAD_LINES_INSIDE and
// LOAD_COLUMNS_INSIDE need slices before `end` and do not compare with it.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

layout(buffer_reference, buffer_reference_align = 4) restrict readonly buffer Wide { float value; };
// 16 bits of any format: loads and stores do not convert.
layout(buffer_reference, buffer_reference_align = 2) restrict readonly buffer In16 { float16_t at[]; };
layout(buffer_reference, buffer_reference_align = 2) restrict writeonly buffer Out16 { float16_t at[]; };
layout(buffer_reference, buffer_reference_align = 16) restrict readonly buffer InAligned { float16_t at[]; };
layout(buffer_reference, buffer_reference_align = 16) restrict writeonly buffer OutAligned { float16_t at[]; };

spirv_instruction(id = 115) ELEMENT rounded(float x);  // OpFConvert

ELEMENT rounded_wide(const in Wide from, const in uint block[2], const in uint in_block[2]) {
    return rounded(nearest(from.value));
}

// `elements`; tells compilers that it is a multiple of 8 if `aligned`.
uint eights(uint elements, const bool aligned) { return aligned ? elements & ~7u : elements; }

// Declares `slice`. A macro, because compilers rarely see tensor layouts as arguments.
#define SLICE(clamp, pitch, end, from, extent)                                                                        \
    tensorLayoutNV<2, clamp> slice = createTensorLayoutNV(2, clamp);                                                  \
    slice = setTensorLayoutDimensionNV(slice, (end).x, (end).y);                                                      \
    slice = setTensorLayoutStrideNV(slice, pitch, 1);                                                                 \
    slice = setTensorLayoutClampValueNV(slice, 0);                                                                    \
    slice = sliceTensorLayoutNV(slice, (from).x, (extent).x, (from).y, (extent).y)

#define CLAMPED gl_CooperativeMatrixClampModeConstantNV
#define UNCLAMPED gl_CooperativeMatrixClampModeUndefinedNV

#define LINES_BY(clamp, matrix, memory, form, aligned, base, pitch, end, from, extent)                                \
    {                                                                                                                 \
        if (packed(form)) {                                                                                           \
            SLICE(clamp, eights(pitch, aligned), end, from, extent);                                                  \
            if (aligned) coopMatLoadTensorNV(matrix, InAligned(memory).at, eights(base, aligned), slice);             \
            else coopMatLoadTensorNV(matrix, In16(memory).at, base, slice);                                           \
        } else {                                                                                                      \
            SLICE(clamp, pitch, end, from, extent);                                                                   \
            coopMatLoadTensorNV(matrix, memory.at, base, slice, rounded_wide);                                        \
        }                                                                                                             \
    }

#define COLUMNS_BY(clamp, matrix, memory, form, aligned, base, pitch, end, from, extent)                              \
    {                                                                                                                 \
        const tensorViewNV<2, false, 1, 0> turned = createTensorViewNV(2, false, 1, 0);                               \
        if (packed(form)) {                                                                                           \
            SLICE(clamp, eights(pitch, aligned), end, from, extent);                                                  \
            if (aligned) coopMatLoadTensorNV(matrix, InAligned(memory).at, eights(base, aligned), slice, turned);     \
            else coopMatLoadTensorNV(matrix, In16(memory).at, base, slice, turned);                                   \
        } else {                                                                                                      \
            SLICE(clamp, pitch, end, from, extent);                                                                   \
            coopMatLoadTensorNV(matrix, memory.at, base, slice, turned, rounded_wide);                                \
        }                                                                                                             \
    }

#define LOAD_LINES(matrix, memory, form, aligned, base, pitch, end, from, extent)                                     \
    LINES_BY(CLAMPED, matrix, memory, form, aligned, base, pitch, end, from, extent)
#define LOAD_COLUMNS(matrix, memory, form, aligned, base, pitch, end, from, extent)                                   \
    COLUMNS_BY(CLAMPED, matrix, memory, form, aligned, base, pitch, end, from, extent)
#define LOAD_LINES_INSIDE(matrix, memory, form, aligned, base, pitch, end, from, extent)                              \
    LINES_BY(UNCLAMPED, matrix, memory, form, aligned, base, pitch, end, from, extent)
#define LOAD_COLUMNS_INSIDE(matrix, memory, form, aligned, base, pitch, end, from, extent)                            \
    COLUMNS_BY(UNCLAMPED, matrix, memory, form, aligned, base, pitch, end, from, extent)

// The kernel defines rounded_sum for each type of sum that it stores. The store may round the sum in place.
#define STORE_LINES(matrix, memory, form, aligned, base, pitch, end, from, extent)                                    \
    if (packed(form)) {                                                                                               \
        ROUND(matrix);                                                                                                \
        SLICE(CLAMPED, eights(pitch, aligned), end, from, extent);                                                    \
        if (aligned) coopMatStoreTensorNV(rounded_sum(matrix), OutAligned(memory).at, eights(base, aligned), slice);  \
        else coopMatStoreTensorNV(rounded_sum(matrix), Out16(memory).at, base, slice);                                \
    } else {                                                                                                          \
        SLICE(CLAMPED, pitch, end, from, extent);                                                                     \
        coopMatStoreTensorNV(matrix, memory.at, base, slice);                                                         \
    }
