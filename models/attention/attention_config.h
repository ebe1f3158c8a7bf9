// Attention part of a model's configuration: the variant, and the variant's options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/config/any_config.h"

namespace vkf {

struct AttentionVariant;

/// The optional "attention" object of config.json; the variant is standard if it is absent.
class AttentionConfig {
public:
    AttentionConfig() : AttentionConfig("standard") {}
    /// Sets the options to the variant's defaults. Throws InputError listing the known names.
    explicit AttentionConfig(std::string_view variant);

    const AttentionVariant& variant() const { return *variant_; }
    /// The variant's name.
    std::string variant_name() const;
    /// Changes to another variant, with the variant's default options; does nothing if `name` is the present variant.
    void set_variant(std::string_view name);

    AnyConfig options;           // of the variant
    bool mask_diagonal = false;  // no token attends to itself

    /// Fields of the variant's name, its options, and mask_diagonal.
    std::vector<Field> fields();

    bool operator==(const AttentionConfig&) const = default;

private:
    const AttentionVariant* variant_;
};

}  // namespace vkf
