#include "models/attention/attention_config.h"

#include "models/attention/mixer.h"

namespace vkf {

AttentionConfig::AttentionConfig(std::string_view variant)
    : options(mixer_named(variant).options), mixer_(&mixer_named(variant)) {}

std::string AttentionConfig::variant() const {
    return std::string(mixer_->name);
}

void AttentionConfig::set_variant(std::string_view name) {
    if (name == mixer_->name) return;
    mixer_ = &mixer_named(name);
    options = mixer_->options;
}

std::vector<Field> AttentionConfig::fields() {
    const Choice variant{.words = mixer_names(),
                         .get = [this] { return this->variant(); },
                         .set = [this](const std::string& name) { set_variant(name); }};
    std::vector<Field> all{{.key = "variant", .value = variant}};
    for (Field& own : options.fields()) all.push_back(std::move(own));
    all.push_back({.key = "mask_diagonal", .value = &mask_diagonal});
    return all;
}

}  // namespace vkf
