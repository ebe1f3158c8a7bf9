// A model's configuration as code sees it that knows no family.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/any_config.h"
#include "models/attention/attention_config.h"
#include "models/lora.h"

namespace vkf {

struct Family;

/// A size of a model by its key in config.json.
struct Size {
    std::string_view key;
    std::int64_t value;

    operator std::int64_t() const { return value; }
};

/// A configuration of any family; a value. A family's own struct becomes one by itself: it has `std::vector<Field>
/// fields()`, whose places are in it, and `static const Family& family()`.
class ModelConfig {
public:
    template <HasFields Config>
    requires requires {
        { Config::family() } -> std::same_as<const Family&>;
    }
    ModelConfig(Config config) : value_(std::move(config)), family_(&Config::family) {}

    const Family& family() const { return family_(); }
    /// As its family knows it. Throws std::bad_any_cast if it is another family's.
    template <class Config>
    const Config& as() const {
        return value_.as<Config>();
    }

    /// Their places are in this object, until it is assigned to or moved from.
    std::vector<Field> fields() { return value_.fields(); }
    /// The size that is called so here, which the family's kind of task has.
    Size size(Dimension dimension) const;
    void set(Dimension dimension, std::int64_t size);
    const AttentionConfig& attention() const;
    AttentionConfig& attention();
    /// The classes' names, where they are known.
    const std::vector<std::string>& class_names() const;
    void set_class_names(std::vector<std::string> names);
    /// The class's name, or its number where it has none.
    std::string label(std::size_t i) const;
    /// What is trained instead of the model itself, if it has adapters: see with_adapters in models/adapters.h.
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
