#include "models/attention/attention_config.h"

#include <iterator>
#include <ranges>

#include "base/error.h"
#include "models/attention/kind.h"
#include "models/attention/variant.h"

namespace vkf {

AttentionConfig::AttentionConfig(std::string_view variant)
    : options(variant_named(variant).options),
      kind_options(attention_kinds().front()->options),
      variant_(&variant_named(variant)),
      kind_(attention_kinds().front()) {}

std::string AttentionConfig::variant_name() const {
    return std::string(variant_->name);
}

void AttentionConfig::set_variant(std::string_view name) {
    if (name == variant_->name) return;
    variant_ = &variant_named(name);
    options = variant_->options;
}

std::string AttentionConfig::kind_name() const {
    return std::string(kind_->name);
}

void AttentionConfig::set_kind(std::string_view name) {
    if (name == kind_->name) return;
    kind_ = &kind_named(name);
    kind_options = kind_->options;
}

std::string AttentionConfig::title() const {
    return variant_name() + (kind_ == attention_kinds().front() ? "" : " " + kind_name());
}

std::vector<Field> AttentionConfig::names() {
    const Choice variant{.words = variant_names(),
                         .get = [this] { return this->variant_name(); },
                         .set = [this](const std::string& name) { set_variant(name); }};
    const Choice kind{.words = kind_names(),
                      .get = [this] { return this->kind_name(); },
                      .set = [this](const std::string& name) { set_kind(name); }};
    return {{.key = "variant", .value = variant}, {.key = "kind", .value = kind}};
}

std::vector<Field> AttentionConfig::fields() {
    std::vector<Field> all = names();
    for (AnyConfig* own : {&options, &kind_options}) std::ranges::move(own->fields(), std::back_inserter(all));
    all.push_back({.key = "mask_diagonal", .value = &mask_diagonal});
    return all;
}

void AttentionConfig::require_weights(std::string_view purpose) const {
    require(variant_->maps == 1, purpose, ": ", variant_->name, " attention has ", variant_->maps,
            " attention maps per head, wanted a variant with one");
    require(!kind_->attend, purpose, ": ", kind_->name, " attention forms no attention map, wanted a kind that does");
}

}  // namespace vkf
