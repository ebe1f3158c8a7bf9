// Configuration struct of any type, for code that only walks its fields.
#pragma once

#include <any>
#include <concepts>
#include <utility>
#include <vector>

#include "models/config/field.h"

namespace vkf {

/// A struct with `fields()` that refer to its members.
template <class T>
concept HasFields = std::equality_comparable<T> && requires(T config) {
    { config.fields() } -> std::same_as<std::vector<Field>>;
};

/// A struct with HasFields, of any type; has value semantics.
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

    /// The struct itself. Throws std::bad_any_cast if it has another type.
    template <class Config>
    const Config& as() const {
        return std::any_cast<const Config&>(value_);
    }
    template <class Config>
    Config& as() {
        return std::any_cast<Config&>(value_);
    }

    /// Fields of the struct, which refer into this object; valid until it is assigned to or moved from.
    std::vector<Field> fields() { return fields_(value_); }
    /// Fields of the struct, for reading only.
    std::vector<Field> places() const { return fields_(const_cast<std::any&>(value_)); }

    /// True if both structs have the same type and are equal.
    bool operator==(const AnyConfig& other) const { return equal_(value_, other.value_); }

private:
    std::any value_;
    std::vector<Field> (*fields_)(std::any&);
    bool (*equal_)(const std::any&, const std::any&);
};

/// Configuration without fields.
struct NoOptions {
    std::vector<Field> fields() { return {}; }
    bool operator==(const NoOptions&) const = default;
};

}  // namespace vkf
