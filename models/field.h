// A configuration's fields, each described once: config.json, options, train.toml, checks and --help follow from it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace vkf {

class AnyConfig;
class AttentionConfig;

/// A whole number. `most` bounds what is made here; models that are there already may be larger.
struct Whole {
    std::int64_t* value;
    std::int64_t least = 1, most = 1;
    std::int64_t zero = 0;  // what 0 stands for in a file, where it can be told

    std::int64_t resolved() const { return *value == 0 ? zero : *value; }
};

/// A number, above `least` and at most `most` in what is made here; a model that is there may have `least` or more.
struct Number {
    float* value;
    float least = 0, most = 0;
};

/// One of some words. "none" is left out of files.
struct Choice {
    std::vector<std::string> words;
    std::function<std::string()> get;
    std::function<void(const std::string&)> set;  // of one of the words
};

template <class Enum>
using Words = std::span<const std::pair<const char*, Enum>>;

template <class Enum>
Choice choice(Enum& value, std::type_identity_t<Words<Enum>> words) {
    Choice made;
    for (const auto& [word, kind] : words) made.words.emplace_back(word);
    made.get = [&value, words] {
        for (const auto& [word, kind] : words)
            if (kind == value) return std::string(word);
        return std::string();
    };
    made.set = [&value, words](const std::string& wanted) {
        for (const auto& [word, kind] : words)
            if (word == wanted) value = kind;
    };
    return made;
}

/// The classes' names, all or none, and how many classes there are, which is a field before this one.
struct ClassNames {
    std::vector<std::string>* names;
    const std::int64_t* count;
};

/// What code that knows no family wants to know of a model.
enum class Dimension : std::uint8_t { none, layers, vocab_size, context, image_size, channels, classes };

/// A hyper-parameter of one configuration: the value is a place in it.
struct Field {
    /// AnyConfig is an object of its own in a file: its first field is a word, on which it depends what others there
    /// are, and as long as that is the first of its words the object is left out.
    using Value = std::variant<Whole, Number, bool*, Choice, ClassNames, AttentionConfig*, AnyConfig*>;

    std::string_view key;  // in config.json
    Value value;
    std::string help = {};         // of its option; without it there is none, for the data or nobody decides
    std::string_view option = {};  // the option's name, where it is not the key with dashes
    bool required = false;         // a file must have it
    bool saved = true;             // in a file; else it is only for a model's beginning
    bool open = false;             // until somebody gives it: then what has the field chooses
    Dimension dimension = Dimension::none;

    /// "--n-layer"
    std::string option_name() const;
    bool has_option() const { return !help.empty(); }
};

/// The shortest decimal that reads back as the number.
std::string shortest(float value);
/// The value as people write it.
std::string shown(const Field& field);
/// Takes the value of the same field in another configuration.
void assign(const Field& field, const Field& other);

/// Throws InputError naming the key, its value and what is wanted.
void check(std::span<const Field> fields);
/// The same where one is larger than what is made here.
void check_limits(std::span<const Field> fields);

/// Throws InputError unless it is one of the words.
void require_known(const std::string& name, const std::string& word, std::span<const std::string> words);
/// "a, b or c".
std::string listed(std::span<const std::string> words);

}  // namespace vkf
