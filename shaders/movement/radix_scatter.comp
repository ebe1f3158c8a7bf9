// Moves the indices of a section's keys to their places by one digit: the second half of a pass of a radix sort
// (runtime/ops/movement/radix_sort.h). Keys with equal digits keep their order.
//
// Shapes: keys [rows], order and sorted [rows], counts [sections, 256] from radix_count.
// Passes: 1. the place of the section's first key with each digit, from all counts; 2. GROUP keys at a time, the rank
// of each key among the keys before it with the same digit.
#version 460
#include "lib/args.glsl"
#include "movement/radix.glsl"

layout(push_constant) uniform Args {
    InInt keys;
    InInt order;
    InInt counts;
    OutInt sorted;
    uint rows;
    uint key_count;
    uint shift;
    uint sections;
};

shared uint digit_total[RADIX];  // count of each digit in all sections
shared uint place[RADIX];        // place of the next key with each digit
shared uint digits[GROUP];

void main() {
    const uint lane = gl_LocalInvocationID.x, section = group_index();
    for (uint d = lane; d < RADIX; d += GROUP) {
        uint total = 0, before = 0;
        for (uint s = 0; s < sections; ++s) {
            if (s == section) before = total;
            total += uint(counts.at[s * RADIX + d]);
        }
        digit_total[d] = total;
        place[d] = before;
    }
    barrier();
    for (uint d = lane; d < RADIX; d += GROUP) {
        uint smaller = 0;
        for (uint e = 0; e < d; ++e) smaller += digit_total[e];
        place[d] += smaller;
    }

    const uint end = min((section + 1) * SECTION, rows);
    for (uint first = section * SECTION; first < end; first += GROUP) {
        const uint i = first + lane;
        const uint number = i >= end || FIRST ? i : uint(order.at[i]);
        const uint digit = i < end ? digit_of(keys, number, key_count, shift) : RADIX;
        digits[lane] = digit;
        barrier();  // digits and places are known
        uint rank = 0, later = 0;
        for (uint other = 0; other < GROUP; ++other) {
            if (digits[other] != digit) continue;
            if (other < lane) ++rank;
            if (other > lane) ++later;
        }
        const bool valid = i < end;
        if (valid) sorted.at[place[digit] + rank] = int(number);
        barrier();  // all have read their digit's place
        if (valid && later == 0) place[digit] += rank + 1;
    }
}
