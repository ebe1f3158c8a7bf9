// The fields of the "attention" object in config.json.

#include <limits>

#include "models/attention/attention.h"
#include "models/field.h"

namespace vkf {

namespace {

constexpr std::pair<const char*, GammaOn> gamma_on_words[] = {{"sum", GammaOn::sum}, {"value", GammaOn::value}};

Choice variant_choice(std::string& variant) {
    Choice made;
    for (const Variant& known : variants()) made.words.emplace_back(known.name);
    made.get = [&variant] { return variant; };
    made.set = [&variant](const std::string& word) { variant = word; };
    return made;
}

}  // namespace

std::vector<Field> fields_of(AttentionConfig& c) {
    constexpr float any = std::numeric_limits<float>::max();
    return {{.key = "variant", .value = variant_choice(c.variant)},
            {.key = "gamma", .value = Number{&c.gamma, -any, any}},
            {.key = "gamma_on", .value = choice(c.gamma_on, gamma_on_words)},
            {.key = "mask_diagonal", .value = &c.mask_diagonal}};
}

}  // namespace vkf
