// Sums and maxima over a workgroup of any size, for any subgroup size, in a fixed order. All invocations take part.
//
// If the workgroup is one small subgroup (as on CPU devices), each lane's value is broadcast to all lanes, and all
// lanes add up in the same order. A broadcast is one instruction on lavapipe. lavapipe's subgroupAdd goes from lane to
// lane, each step waiting for the one before, and takes five times as long.

shared float group_partial[32];  // one per subgroup: 128 lanes at least 4 wide

const bool BY_BROADCASTS = GROUP == SUBGROUP && SUBGROUP <= 16;

float group_sum(float x) {
    float total = 0.0;
    if (BY_BROADCASTS) {
        [[unroll]] for (uint i = 0; i < SUBGROUP; i += 4)
            total += (subgroupBroadcast(x, i) + subgroupBroadcast(x, i + 1)) +
                     (subgroupBroadcast(x, i + 2) + subgroupBroadcast(x, i + 3));
        return total;
    }
    total = subgroupAdd(x);
    if (GROUP > SUBGROUP) {
        barrier();  // an earlier reduction may still be reading
        if (subgroupElect()) group_partial[gl_SubgroupID] = total;
        barrier();
        total = 0.0;
        for (uint i = 0; i < gl_NumSubgroups; ++i) total += group_partial[i];
    }
    return total;
}

float group_max(float x) {
    float top = x;
    if (BY_BROADCASTS) {
        [[unroll]] for (uint i = 0; i < SUBGROUP; i += 4)
            top = larger(top, larger(larger(subgroupBroadcast(x, i), subgroupBroadcast(x, i + 1)),
                                     larger(subgroupBroadcast(x, i + 2), subgroupBroadcast(x, i + 3))));
        return top;
    }
    top = subgroupMax(x);
    if (GROUP > SUBGROUP) {
        barrier();
        if (subgroupElect()) group_partial[gl_SubgroupID] = top;
        barrier();
        top = group_partial[0];
        for (uint i = 1; i < gl_NumSubgroups; ++i) top = max(top, group_partial[i]);
    }
    return top;
}
