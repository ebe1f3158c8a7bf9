// Several tensors swept by one dispatch, for kernels that would otherwise be started once per parameter.
//
// Workgroups take `per_group` consecutive elements of the first tensor, then of the second, … A kernel defines TENSORS
// before it includes this; absent tensors have no elements. Invocations take pairs of elements side by side, and the
// first the odd one that may be left:
//     FOR_PAIRS(part, i) step(i, true);
//     if (odd_end(part)) step(part.end - 1, false);
// `per_group` is even, as lib/sweep_pairs.glsl wants it.
#include "lib/sweep_pairs.glsl"

struct Part {
    uint which;   // tensor
    uint first;   // element
    uint end;
    uint group;   // number of the tensor's first workgroup
    uint groups;  // that sweep the tensor
};

// The part of a workgroup. Workgroups past the last tensor get an empty one.
Part part_of(uint counts[TENSORS], uint per_group) {
    uint skip = group_index();
    Part part = Part(0, 0, 0, 0, 0);
    bool found = false;
    [[unroll]] for (uint t = 0; t < TENSORS; ++t) {
        const uint groups = counts[t] / per_group + (counts[t] % per_group != 0 ? 1 : 0);
        if (!found && skip < groups) {
            const uint first = skip * per_group;
            part = Part(t, first, first + min(per_group, counts[t] - first), group_index() - skip, groups);
            found = true;
        }
        skip -= found ? 0 : groups;
    }
    return part;
}

// The same, or an empty one where an optimiser is told by a negative clip factor to skip its step.
Part part_unless_skipped(uint counts[TENSORS], uint per_group, float clip) {
    Part part = part_of(counts, per_group);
    part.end = clip < 0.0 ? part.first : part.end;
    return part;
}

#define FOR_PAIRS(part, i) FOR_PAIRS_IN(part.first, part.end, i)

bool odd_end(Part part) { return odd_end(part.first, part.end); }
