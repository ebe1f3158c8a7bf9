#include "models/attention/attention_config.h"

#include "models/attention/variant.h"

namespace vkf {

AttentionConfig::AttentionConfig(std::string_view variant)
    : options(variant_named(variant).options), variant_(&variant_named(variant)) {}

std::string AttentionConfig::variant_name() const {
    return std::string(variant_->name);
}

void AttentionConfig::set_variant(std::string_view name) {
    if (name == variant_->name) return;
    variant_ = &variant_named(name);
    options = variant_->options;
}

std::vector<Field> AttentionConfig::fields() {
    const Choice variant{.words = variant_names(),
                         .get = [this] { return this->variant_name(); },
                         .set = [this](const std::string& name) { set_variant(name); }};
    std::vector<Field> all{{.key = "variant", .value = variant}};
    for (Field& own : options.fields()) all.push_back(std::move(own));
    all.push_back({.key = "mask_diagonal", .value = &mask_diagonal});
    return all;
}

}  // namespace vkf
