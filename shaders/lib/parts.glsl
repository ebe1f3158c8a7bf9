// Many tensors swept by one dispatch, for kernels that would otherwise be started once per parameter.
//
// The host (runtime/ops/parts.h) cuts the tensors into parts, one for each workgroup, and writes two tables: whose each
// part is, and what the kernel declares to want of each tensor, as
//     struct Row { InOut y; In x; };
//     TABLE Rows { Row at[]; };
//     layout(push_constant) uniform Args { Rows rows; Parts parts; uint groups; … };
// Invocations take pairs of elements side by side, and the first the odd one that may be left:
//     const Part part = part_of(parts, groups);
//     Row row = rows.at[part.row];
//     FOR_PAIRS(part, i) step(row, i, true);
//     if (odd_end(part)) step(row, part.end - 1, false);
#include "lib/vec2_loop.glsl"

struct Part {
    uint row;
    uint first;  // element; even, as lib/vec2_loop.glsl wants it
    uint end;
};

REFERENCE readonly buffer Parts { Part at[]; };

#define TABLE layout(buffer_reference, buffer_reference_align = 8) restrict readonly buffer

// The part of a workgroup. Workgroups past the last, of which a folded grid has some, get an empty one.
Part part_of(Parts parts, uint groups) {
    if (group_index() < groups) return parts.at[group_index()];
    return Part(0, 0, 0);
}

// The same, or an empty one where an optimiser is told by a negative clip factor to skip its step.
Part part_unless_skipped(Parts parts, uint groups, float clip) {
    Part part = part_of(parts, groups);
    part.end = clip < 0.0 ? part.first : part.end;
    return part;
}

#define FOR_PAIRS(part, i) FOR_PAIRS_IN(part.first, part.end, i)

bool odd_end(Part part) { return odd_end(part.first, part.end); }
