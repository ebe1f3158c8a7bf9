// Other values for the fields of a configuration, for tests that follow a field through files and options.
#pragma once

#include <string>
#include <variant>

#include "models/config/field.h"

namespace vkf::test {

/// True if set_other_value() can change the field alone.
inline bool has_other_value(const Field& field) {
    return !std::holds_alternative<ClassNames>(field.value) && !std::holds_alternative<AttentionConfig*>(field.value) &&
           !std::holds_alternative<AnyConfig*>(field.value);
}

/// Sets a field to another value, with which the family's default model can still be built, and returns the value.
inline std::string set_other_value(const Field& field) {
    if (const auto* whole = std::get_if<IntRange>(&field.value)) {
        const std::int64_t was = whole->resolved();
        // A default that follows from other fields, such as a head's width, can be halved.
        *whole->value = was <= 0 ? 5 : whole->zero > 1 ? whole->zero / 2 : 2 * was;
    } else if (const auto* number = std::get_if<Number>(&field.value))
        *number->value = 0.5f;
    else if (const auto* flag = std::get_if<bool*>(&field.value))
        **flag = !**flag;
    else if (const auto& choice = std::get<Choice>(field.value); choice.get() == choice.words.front())
        choice.set(choice.words.back());
    else
        choice.set(choice.words.front());
    return shown(field);
}

}  // namespace vkf::test
