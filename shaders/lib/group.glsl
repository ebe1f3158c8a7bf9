// Sums and maxima over a workgroup of any size, for any subgroup size, in a fixed order.
//
// When the workgroup is one subgroup (as on CPU devices) both fold to the plain subgroup operation: the branch on
// constants disappears, and with it the shared memory and the barriers.

shared float group_partial[32];  // one per subgroup: 128 lanes at least 4 wide

float group_sum(float x) {
    float total = subgroupAdd(x);
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
    float top = subgroupMax(x);
    if (GROUP > SUBGROUP) {
        barrier();
        if (subgroupElect()) group_partial[gl_SubgroupID] = top;
        barrier();
        top = group_partial[0];
        for (uint i = 1; i < gl_NumSubgroups; ++i) top = max(top, group_partial[i]);
    }
    return top;
}
