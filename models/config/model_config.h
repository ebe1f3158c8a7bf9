// Configuration of a model, for code that is independent of families.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/adapters/lora.h"
#include "models/attention/attention_config.h"
#include "models/config/any_config.h"

namespace vkf {

struct Family;

/// Size of a model, with its key in config.json.
struct Size {
    std::string_view key;
    std::int64_t value;

    operator std::int64_t() const { return value; }
};

/// Configuration of any family, with value semantics. A family's struct converts to it implicitly: the struct has
/// `std::vector<Field> fields()`, which refer to its members, and `static const Family& family()`.
class ModelConfig {
public:
    template <HasFields Config>
    requires requires {
        { Config::family() } -> std::same_as<const Family&>;
    }
    ModelConfig(Config config) : value_(std::move(config)), family_(&Config::family) {}

    const Family& family() const { return family_(); }
    /// The family's struct. Throws std::bad_any_cast if it is that of another family.
    template <class Config>
    const Config& as() const {
        return value_.as<Config>();
    }

    /// Fields of the struct, which refer into this object; valid until it is assigned to or moved from.
    std::vector<Field> fields() { return value_.fields(); }
    /// True if the family has a number of this kind.
    bool has(Dimension dimension) const;
    /// Number of this kind, which the family must have.
    Size size(Dimension dimension) const;
    void set(Dimension dimension, std::int64_t size);
    /// True if the family has self-attention, and its variant is a field.
    bool has_attention() const;
    /// Variant of self-attention, which the family must have.
    const AttentionConfig& attention() const;
    AttentionConfig& attention();
    /// Names of the classes, if they are known.
    const std::vector<std::string>& class_names() const;
    void set_class_names(std::vector<std::string> names);
    /// Name of class `i`, or its number if it has no name.
    std::string label(std::size_t i) const;
    /// Adapters that are trained instead of the model, if it has any: see with_adapters in models/adapters/adapters.h.
    const std::optional<LoraConfig>& adapters() const { return adapters_; }
    void set_adapters(std::optional<LoraConfig> adapters) { adapters_ = std::move(adapters); }

private:
    AnyConfig value_;
    const Family& (*family_)();
    std::optional<LoraConfig> adapters_;
};

/// Throws InputError naming the key and both values if a model of this configuration cannot be built.
void validate(const ModelConfig& config);

}  // namespace vkf
