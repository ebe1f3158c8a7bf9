// Sweeps many tensors in one dispatch, for kernels that would otherwise be started once per parameter.
//
// The host (runtime/ops/optimizer/tensor_chunks.h) cuts the tensors into chunks, one per workgroup, and writes two
// tables: Parts, with the tensor and elements of each chunk, and a table with a row per tensor, which the kernel
// declares as
//     struct Row { InOut y; In x; };
//     TABLE Rows { Row at[]; };
//     layout(push_constant) uniform Args { Rows rows; Parts parts; uint groups; … };
// Neighbouring invocations take neighbouring pairs of elements, and the first invocation an odd last element:
//     const Part part = part_of(parts, groups);
//     Row row = rows.at[part.row];
//     FOR_PAIRS(part, i) step(row, i, true);
//     if (odd_end(part)) step(row, part.end - 1, false);
#include "lib/vec2_loop.glsl"

struct Part {
    uint row;
    uint first;  // element; even, as lib/vec2_loop.glsl requires
    uint end;
};

REFERENCE readonly buffer Parts { Part at[]; };

#define TABLE layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer

// Chunk of this workgroup. Workgroups past the last one, which a folded grid may have, get an empty chunk.
Part part_of(Parts parts, uint groups) {
    if (group_index() < groups) return parts.at[group_index()];
    return Part(0, 0, 0);
}

// Chunk of this workgroup; empty if the clip factor is negative, with which optimisers skip a step.
Part part_unless_skipped(Parts parts, uint groups, float clip) {
    Part part = part_of(parts, groups);
    part.end = clip < 0.0 ? part.first : part.end;
    return part;
}

#define FOR_PAIRS(part, i) FOR_PAIRS_IN(part.first, part.end, i)

bool odd_end(Part part) { return odd_end(part.first, part.end); }
