// A configuration struct of whatever type, as code sees it that only walks its fields.
#pragma once

#include <any>
#include <concepts>
#include <utility>
#include <vector>

#include "models/field.h"

namespace vkf {

/// A struct whose `fields()` lie in it.
template <class T>
concept HasFields = std::equality_comparable<T> && requires(T config) {
    { config.fields() } -> std::same_as<std::vector<Field>>;
};

/// Such a struct; a value.
class AnyConfig {
public:
    template <HasFields Config>
    AnyConfig(Config config)
        : value_(std::move(config)),
          fields_([](std::any& value) { return std::any_cast<Config&>(value).fields(); }),
          equal_([](const std::any& a, const std::any& b) {
              const auto* other = std::any_cast<Config>(&b);
              return other && std::any_cast<const Config&>(a) == *other;
          }) {}

    /// As its owner knows it. Throws std::bad_any_cast if it is another type.
    template <class Config>
    const Config& as() const {
        return std::any_cast<const Config&>(value_);
    }
    template <class Config>
    Config& as() {
        return std::any_cast<Config&>(value_);
    }

    /// Their places are in this object, until it is assigned to or moved from.
    std::vector<Field> fields() { return fields_(value_); }
    /// The same, to read from.
    std::vector<Field> places() const { return fields_(const_cast<std::any&>(value_)); }

    /// Of the same type, and equal.
    bool operator==(const AnyConfig& other) const { return equal_(value_, other.value_); }

private:
    std::any value_;
    std::vector<Field> (*fields_)(std::any&);
    bool (*equal_)(const std::any&, const std::any&);
};

/// The configuration of what has nothing to configure.
struct NoOptions {
    std::vector<Field> fields() { return {}; }
    bool operator==(const NoOptions&) const = default;
};

}  // namespace vkf
