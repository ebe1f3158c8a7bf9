#include "models/scope.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/dropout.h"

namespace vkf {

Tensor Parameters::get(Graph& graph, const std::string& name, const Shape& shape, Init init, bool frozen) {
    const Tensor tensor = graph.state(frozen ? name : prefix_ + name, {DType::f32, shape});
    const auto [place, is_new] = places_.emplace(name, list_.size());
    if (!is_new) {
        Parameter& known = list_[place->second];
        require(known.shape == shape, "parameter '", name, "' has shape ", known.shape, ", asked for as ", shape);
        return known.tensor = tensor;
    }
    list_.push_back({name, shape, init, tensor, frozen});
    return tensor;
}

std::vector<Parameter> Parameters::trained() const {
    std::vector<Parameter> found;
    std::ranges::copy_if(list_, std::back_inserter(found), [](const Parameter& p) { return !p.frozen; });
    return found;
}

std::vector<Parameter> Parameters::frozen() const {
    std::vector<Parameter> found;
    std::ranges::copy_if(list_, std::back_inserter(found), &Parameter::frozen);
    return found;
}

std::int64_t Parameters::count() const {
    return vkf::count(list_);
}

void Parameters::add_linear_map(LinearMap map) {
    if (std::ranges::find(linear_maps_, map.path, &LinearMap::path) == linear_maps_.end())
        linear_maps_.push_back(std::move(map));
}

std::int64_t count(std::span<const Parameter> parameters) {
    std::int64_t total = 0;
    for (const Parameter& parameter : parameters) total += parameter.shape.elements();
    return total;
}

std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed) {
    const Init init = parameter.init;
    const bool constant = init.kind == Init::Kind::constant;
    std::vector<float> values(static_cast<std::size_t>(parameter.shape.elements()), constant ? init.value : 0.0f);
    if (constant) {
        std::fill(values.begin() + init.first_one, values.begin() + init.end_of_ones, 1.0f);
        return values;
    }
    Random random(seed, parameter.name);
    const auto draw = [&]() -> double {
        if (init.kind == Init::Kind::uniform) return 2.0 * static_cast<double>(random.uniform()) - 1.0;
        return random.normal();
    };
    for (float& value : values) value = static_cast<float>(draw() * static_cast<double>(init.value));
    return values;
}

Scope Scope::operator/(std::string_view part) const {
    Scope inner = *this;
    inner.path_ = path_.empty() ? std::string(part) : path_ + "." + std::string(part);
    graph_->scope = inner.path_;
    return inner;
}

Scope Scope::root() const {
    Scope whole = *this;
    whole.path_.clear();
    whole.layer_ = 0;
    return whole;
}

Scope Scope::block(std::int64_t index, std::int64_t count) const {
    Scope inner = *this / index;
    inner.layer_ = index;
    if (!dropout_state_.drop_path_ramp) return inner;
    const auto last = static_cast<float>(std::max<std::int64_t>(count - 1, 1));
    inner.dropout_state_.drop_path *= static_cast<float>(index) / last;
    return inner;
}

Tensor Scope::get(std::string_view name, const Shape& shape, Init init, bool frozen) const {
    graph_->scope = path_;
    const std::string whole = path_.empty() ? std::string(name) : path_ + "." + std::string(name);
    return parameters_->get(*graph_, whole, shape, init, frozen);
}

Tensor Scope::parameter(std::string_view name, const Shape& shape, Init init) const {
    return get(name, shape, init, adapters_ != nullptr);
}

Tensor Scope::frozen_parameter(std::string_view name, const Shape& shape, Init init) const {
    return get(name, shape, init, true);
}

Tensor Scope::linear_weight(const Shape& shape, Init init, bool out_in, bool as_stored) const {
    parameters_->add_linear_map({path_, out_in, as_stored});
    return parameter("weight", shape, init);
}

Scope Scope::with_adapters(const LoraConfig* adapters) const {
    Scope inner = *this;
    inner.adapters_ = adapters;
    return inner;
}

Scope Scope::with_taps(Taps* taps) const {
    Scope made = *this;
    made.taps_ = taps;
    return made;
}

void Scope::tap(std::string_view name, const std::function<Tensor()>& make) const {
    if (taps_ && taps_->watch(name)) taps_->found.push_back({std::string(name), path_, make()});
}

const LoraConfig* Scope::adapter() const {
    return adapters_ && adapters_->adapts(path_) ? adapters_ : nullptr;
}

Tensor Scope::adapter_parameter(std::string_view name, const Shape& shape, Init init) const {
    return get(name, shape, init, false);
}

Tensor Scope::drop(Tensor x) const {
    return dropout_state_.dropout > 0.0f ? dropout(x, dropout_state_.dropout, dropout_state_.seed, salt()) : x;
}

Tensor Scope::drop_path(const Shape& branch) const {
    if (dropout_state_.drop_path == 0.0f) return {};
    std::vector<std::int64_t> one_each(branch.rank(), 1);
    one_each[0] = branch[0];
    const Tensor ones = fill(*graph_, Shape(one_each), 1.0f);
    return dropout(ones, dropout_state_.drop_path, dropout_state_.seed, (*this / "path").salt());
}

std::uint32_t Scope::salt() const {
    return static_cast<std::uint32_t>(hash_name(path_));
}

}  // namespace vkf
