// Tensors whose values are known when a graph is built.
#include <algorithm>

#include "base/error.h"
#include "graph/graph.h"

namespace vkf {

Tensor Graph::constant(TensorType type, std::span<const std::byte> values) {
    require(static_cast<std::int64_t>(values.size()) == bytes_of(type.shape.elements(), Format::f32), "a constant ",
            type, " is given ", values.size() / 4, " values");
    for (const Tensor& known : constants_)
        if (known.type() == type && std::ranges::equal(*storage(known).values, values)) return known;
    constants_.push_back(leaf("constant", std::move(type), Role::constant));
    leaves_.pop_back();  // constants cannot be found by name
    storages_.back().values = std::make_shared<const std::vector<std::byte>>(values.begin(), values.end());
    return constants_.back();
}

Tensor Graph::constant(Shape shape, std::span<const float> values) {
    return constant({DType::f32, std::move(shape)}, std::as_bytes(values));
}

Tensor Graph::constant(Shape shape, std::span<const std::int32_t> values) {
    return constant({DType::i32, std::move(shape)}, std::as_bytes(values));
}

}  // namespace vkf
