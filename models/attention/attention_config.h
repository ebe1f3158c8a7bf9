// Attention part of a model's configuration: the variant, the kind of attention, and their options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/config/any_config.h"

namespace vkf {

struct AttentionKind;
struct AttentionVariant;

/// The optional "attention" object of config.json; if it is absent, the variant is standard and the kind full.
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

    const AttentionKind& kind() const { return *kind_; }
    std::string kind_name() const;
    /// Changes to another kind, as set_variant() does.
    void set_kind(std::string_view name);

    /// "belief", or "belief window": the variant's name and, unless it is full, the kind's.
    std::string title() const;

    AnyConfig options;           // of the variant
    AnyConfig kind_options;      // of the kind
    bool mask_diagonal = false;  // no token attends to itself

    /// Fields of the variant's name and the kind's name, which determine the others.
    std::vector<Field> names();
    /// Fields of the names, the variant's and the kind's options, and mask_diagonal.
    std::vector<Field> fields();

    /// Throws InputError, which begins with `purpose`, unless each head of a layer has one map of weights, [T, S].
    void require_weights(std::string_view purpose) const;

    bool operator==(const AttentionConfig&) const = default;

private:
    const AttentionVariant* variant_;
    const AttentionKind* kind_;
};

}  // namespace vkf
