// What a model says of its attention: which mixer it has, with that one's own options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/any_config.h"

namespace vkf {

struct Mixer;

/// The optional "attention" object of config.json; absent means standard.
class AttentionConfig {
public:
    AttentionConfig() : AttentionConfig("standard") {}
    /// With the mixer's own defaults. Throws InputError listing the known names.
    explicit AttentionConfig(std::string_view variant);

    const Mixer& mixer() const { return *mixer_; }
    /// The mixer's name.
    std::string variant() const;
    /// Takes another mixer, with its defaults; does nothing if it is that one's already.
    void set_variant(std::string_view name);

    AnyConfig options;           // the mixer's own
    bool mask_diagonal = false;  // no token attends to itself

    /// The variant, its options, and what all have.
    std::vector<Field> fields();

    bool operator==(const AttentionConfig&) const = default;

private:
    const Mixer* mixer_;
};

}  // namespace vkf
