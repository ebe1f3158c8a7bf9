#include "models/attention/rotary_positions.h"

#include "ops/attention/rope.h"

namespace vkf {

RotaryPositions::RotaryPositions(Graph& graph, std::span<const double> frequencies, std::int64_t length,
                                 KeyValueCache* cache)
    : table(rope_table(graph, frequencies, cache ? cache->capacity : length)),
      positions(cache ? cache->positions : Tensor()) {}

std::array<Tensor, 2> RotaryPositions::operator()(Tensor q, Tensor k) const {
    return rope(q, k, table, {.clockwise = clockwise, .positions = positions});
}

}  // namespace vkf
