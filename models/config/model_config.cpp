#include "models/config/model_config.h"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "models/families/family.h"

namespace vkf {

namespace {

template <class Fields>
const Field& with_dimension(const Fields& fields, Dimension dimension) {
    const auto found = std::ranges::find(fields, dimension, &Field::dimension);
    if (found == fields.end()) throw std::logic_error("a family's configuration lacks a size that its task has");
    return *found;
}

/// Value of the only field of this kind.
template <class Kind>
const Kind& only(const std::vector<Field>& fields) {
    for (const Field& field : fields)
        if (const Kind* found = std::get_if<Kind>(&field.value)) return *found;
    throw std::logic_error("a family's configuration lacks a field that its task has");
}

}  // namespace

bool ModelConfig::has(Dimension dimension) const {
    const auto all = value_.places();
    return std::ranges::find(all, dimension, &Field::dimension) != all.end();
}

Size ModelConfig::size(Dimension dimension) const {
    const auto all = value_.places();
    const Field& field = with_dimension(all, dimension);
    return {field.key, *std::get<IntRange>(field.value).value};
}

void ModelConfig::set(Dimension dimension, std::int64_t size) {
    const auto all = fields();
    *std::get<IntRange>(with_dimension(all, dimension).value).value = size;
}

bool ModelConfig::has_attention() const {
    const auto all = value_.places();
    return std::ranges::any_of(
        all, [](const Field& field) { return std::holds_alternative<AttentionConfig*>(field.value); });
}

const AttentionConfig& ModelConfig::attention() const {
    return *only<AttentionConfig*>(value_.places());
}

AttentionConfig& ModelConfig::attention() {
    return *only<AttentionConfig*>(fields());
}

const std::vector<std::string>& ModelConfig::class_names() const {
    return *only<ClassNames>(value_.places()).names;
}

void ModelConfig::set_class_names(std::vector<std::string> names) {
    *only<ClassNames>(fields()).names = std::move(names);
}

std::string ModelConfig::label(std::size_t i) const {
    const std::vector<std::string>& names = class_names();
    return i < names.size() ? names[i] : std::to_string(i);
}

void validate(const ModelConfig& config) {
    ModelConfig places = config;
    check(places.fields());
    config.family().check(config);
}

}  // namespace vkf
