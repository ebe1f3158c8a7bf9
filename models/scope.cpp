#include "models/scope.h"

#include "base/error.h"
#include "base/random.h"
#include "ops/ops.h"

namespace vkf {

Tensor Parameters::get(Graph& graph, const std::string& name, const Shape& shape, Init init) {
    const Tensor tensor = graph.state(name, {DType::f32, shape});
    for (const Parameter& known : list_) {
        if (known.name != name) continue;
        require(known.shape == shape, "parameter '", name, "' has shape ", known.shape, ", asked for as ", shape);
        return tensor;
    }
    list_.push_back({name, shape, init, tensor});
    return tensor;
}

std::int64_t Parameters::count() const {
    std::int64_t total = 0;
    for (const Parameter& parameter : list_) total += parameter.shape.elements();
    return total;
}

std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed) {
    const float fill = parameter.init.kind == Init::Kind::ones ? 1.0f : 0.0f;
    std::vector<float> values(static_cast<std::size_t>(parameter.shape.elements()), fill);
    if (parameter.init.kind != Init::Kind::normal) return values;
    Random random(seed, parameter.name);
    for (float& value : values)
        value = static_cast<float>(random.normal() * static_cast<double>(parameter.init.deviation));
    return values;
}

Scope Scope::operator/(std::string_view part) const {
    Scope inner = *this;
    inner.path_ = path_.empty() ? std::string(part) : path_ + "." + std::string(part);
    graph_->scope = inner.path_;
    return inner;
}

Tensor Scope::parameter(std::string_view name, const Shape& shape, Init init) const {
    graph_->scope = path_;
    return parameters_->get(*graph_, path_.empty() ? std::string(name) : path_ + "." + std::string(name), shape, init);
}

Tensor Scope::drop(Tensor x) const {
    return drops() ? dropout(x, noise_.dropout, noise_.seed, salt()) : x;
}

std::uint32_t Scope::salt() const {
    return static_cast<std::uint32_t>(hash_name(path_));
}

}  // namespace vkf
