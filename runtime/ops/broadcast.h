// Which shapes broadcast to which.
#pragma once

#include <cstdint>

#include "graph/tensor.h"

namespace vkf {

/// How an operand that is broadcast is read at element i of the result: at (i / div) % mod.
struct Broadcast {
    std::int64_t div = 1;
    std::int64_t mod = 1;
};

/// Matches an operand's extents, aligned at the end, with the result's. False if they are not one run between ones.
inline bool broadcast(const Shape& operand, const Shape& result, Broadcast& made) {
    if (operand.rank() > result.rank()) return false;
    made = {1, operand.elements()};
    int axis = -1;
    const int rank = static_cast<int>(operand.rank());
    for (; axis >= -rank && operand[axis] == 1; --axis) made.div *= result[axis];
    for (; axis >= -rank && operand[axis] == result[axis]; --axis) {
    }
    for (; axis >= -rank; --axis)
        if (operand[axis] != 1) return false;
    return true;
}

}  // namespace vkf
