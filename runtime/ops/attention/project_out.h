// BeliefFormer's projection.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// The component of o perpendicular to v, per row and group of width C/groups: o − (<o,v>/<v,v>)·v; o where <v,v> is 0
/// or subnormal. BeliefFormer (002) eq 10-14 with one group, eq 15 with one group per head. Grouped queries as in
/// discrepancy().
/// Numerics: fp32 sums, no eps; where o = v the result is rounding noise of a few 2^-24·|v|, never NaN.
Tensor project_out(Tensor o, Tensor v, std::int64_t groups, std::int64_t value_heads = 0);

struct Projections {
    Tensor rows, heads;
};

/// project_out with one group and with one group per head, for belief-star (BeliefFormer eq 15-17).
Projections project_out_both(Tensor o, Tensor v, std::int64_t heads, std::int64_t value_heads = 0);

}  // namespace vkf
