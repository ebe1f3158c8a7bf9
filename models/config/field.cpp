#include "models/config/field.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "models/attention/attention_config.h"
#include "models/config/any_config.h"

namespace vkf {

namespace {

/// Largest value of the type in which sizes are multiplied.
constexpr std::int64_t largest = (std::int64_t{1} << 31) - 1;

struct Shown {
    std::string operator()(const IntRange& whole) const { return std::to_string(whole.resolved()); }
    std::string operator()(const Number& number) const { return shortest(*number.value); }
    std::string operator()(const bool* flag) const { return *flag ? "true" : "false"; }
    std::string operator()(const Choice& choice) const { return choice.get(); }
    std::string operator()(const ClassNames& classes) const { return listed(*classes.names); }
    std::string operator()(const AttentionConfig* attention) const { return attention->variant_name(); }
    std::string operator()(const AnyConfig* object) const { return std::visit(*this, object->places().front().value); }
};

void check_all(std::span<const Field> fields, const std::string& prefix);

struct Check {
    std::string name;

    void operator()(const IntRange& whole) const {
        require(*whole.value >= whole.least && *whole.value <= largest, name, " is ", *whole.value,
                ", wanted a whole number from ", whole.least, " to ", largest);
    }
    void operator()(const Number& number) const {
        require(*number.value >= number.least && std::isfinite(*number.value), name, " is ", *number.value,
                ", wanted a finite number of at least ", number.least);
    }
    void operator()(const bool*) const {}
    void operator()(const Choice& choice) const { require_known(name, choice.get(), choice.words); }
    void operator()(const ClassNames&) const {}
    void operator()(AttentionConfig* attention) const { check_all(attention->fields(), name + "."); }
    void operator()(AnyConfig* object) const { check_all(object->fields(), name + "."); }
};

void check_all(std::span<const Field> fields, const std::string& prefix) {
    for (const Field& field : fields) std::visit(Check{prefix + std::string(field.key)}, field.value);
}

}  // namespace

std::string Field::option_name() const {
    std::string name = "--" + std::string(option.empty() ? key : option);
    std::ranges::replace(name, '_', '-');
    return name;
}

std::string shortest(float value) {
    std::array<char, 32> buffer;
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string shown(const Field& field) {
    return std::visit(Shown(), field.value);
}

void assign(const Field& field, const Field& other) {
    std::visit(
        [&]<class T>(const T& to) {
            const T& from = std::get<T>(other.value);
            if constexpr (std::is_pointer_v<T>)
                *to = *from;
            else if constexpr (std::is_same_v<T, Choice>)
                to.set(from.get());
            else if constexpr (std::is_same_v<T, ClassNames>)
                *to.names = *from.names;
            else if constexpr (std::is_same_v<T, IntRange>)
                *to.value = from.resolved();
            else
                *to.value = *from.value;
        },
        field.value);
}

void check(std::span<const Field> fields) {
    check_all(fields, "");
}

void check_limits(std::span<const Field> fields) {
    for (const Field& field : fields)
        if (const auto* whole = std::get_if<IntRange>(&field.value))
            require(*whole->value <= whole->most, field.key, " is ", *whole->value, ", wanted at most ", whole->most);
}

void require_known(const std::string& name, const std::string& word, std::span<const std::string> words) {
    require(std::ranges::find(words, word) != words.end(), name, " is '", word, "', wanted ", listed(words));
}

std::string listed(std::span<const std::string> words) {
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i)
        list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return list;
}

}  // namespace vkf
