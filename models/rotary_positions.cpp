#include "models/rotary_positions.h"

#include "ops/rope.h"

namespace vkf {

RotaryPositions::RotaryPositions(Graph& graph, std::span<const double> frequencies, std::int64_t length,
                                 const KeyValueCache* cache)
    : table(rope_table(graph, frequencies, cache ? cache->capacity : length)),
      positions(cache ? cache->positions : Tensor()) {}

Tensor RotaryPositions::operator()(Tensor x, std::int64_t heads) const {
    return rope(x, table, {.heads = heads * maps, .clockwise = clockwise, .positions = positions});
}

}  // namespace vkf
