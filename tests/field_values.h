// Other values for the fields of a configuration, for tests that follow one through files and options.
#pragma once

#include <string>
#include <variant>

#include "models/field.h"

namespace vkf::test {

/// Whether a field can be given another value by itself.
inline bool has_other_value(const Field& field) {
    return !std::holds_alternative<ClassNames>(field.value) && !std::holds_alternative<AttentionConfig*>(field.value) &&
           !std::holds_alternative<AnyConfig*>(field.value);
}

/// Gives it one with which the family's default model can still be built, and returns it.
inline std::string set_other_value(const Field& field) {
    if (const auto* whole = std::get_if<Whole>(&field.value)) {
        const std::int64_t was = whole->resolved();
        // What follows from other fields, such as a head's width, may well be smaller.
        *whole->value = was == 0 ? 5 : whole->zero > 1 ? whole->zero / 2 : 2 * was;
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
