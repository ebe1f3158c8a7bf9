// Fields of a configuration. config.json, options, train.toml, checks and --help follow from one description of each.
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

/// A whole number. `most` bounds models that this program makes; existing models may be larger.
struct IntRange {
    std::int64_t* value;
    std::int64_t least = 1, most = 1;
    std::int64_t zero = 0;     // value that 0 stands for in a file, if it is known
    bool counts_zero = false;  // 0 is a value like others, not the absence of one

    std::int64_t resolved() const { return *value == 0 ? zero : *value; }
};

/// A number, above `least` and at most `most` in models that this program makes, at least `least` in existing models.
struct Number {
    float* value;
    float least = 0, most = 0;
};

/// One of several words. "none" is not written to files.
struct Choice {
    std::vector<std::string> words;
    std::function<std::string()> get;
    std::function<void(const std::string&)> set;  // takes one of the words
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

/// Names of the classes, all or none, and the number of classes, which is an earlier field.
struct ClassNames {
    std::vector<std::string>* names;
    const std::int64_t* count;
};

/// Numbers of a model that code independent of families reads: its sizes and, in models that predict hidden words, the
/// token that stands for a hidden word (negative: not known).
enum class Dimension : std::uint8_t { none, layers, vocab_size, context, image_size, channels, classes, mask_token };

/// Hyper-parameter of a configuration; the value refers to a member of the configuration.
struct Field {
    /// AnyConfig is a nested object in a file. Its first field is a word that determines the other fields; the object
    /// is not written if the word is the first of the field's words.
    using Value = std::variant<IntRange, Number, bool*, Choice, ClassNames, AttentionConfig*, AnyConfig*>;

    std::string_view key;  // in config.json
    Value value;
    std::string help = {};          // text of the option; if empty, there is no option: the data decides, or nothing
    std::string_view option = {};   // the option's name, if it is not the key with dashes
    bool required = false;          // a file must have it
    bool saved = true;              // in a file; else it is used only to initialise a model
    bool unset_by_default = false;  // until an option or a file gives it, the owner of the field chooses
    Dimension dimension = Dimension::none;

    /// "--n-layer"
    std::string option_name() const;
    bool has_option() const { return !help.empty(); }
};

/// The shortest decimal that reads back as the number.
std::string shortest(float value);
/// The value as users write it.
std::string shown(const Field& field);
/// Copies the value from `other`, the same field in another configuration.
void assign(const Field& field, const Field& other);

/// Throws InputError naming the key, its value and what is wanted.
void check(std::span<const Field> fields);
/// Throws InputError naming a key, its value and its limit if a whole number exceeds `most`.
void check_limits(std::span<const Field> fields);

/// Throws InputError unless `word` is one of `words`.
void require_known(const std::string& name, const std::string& word, std::span<const std::string> words);
/// "a, b or c".
std::string listed(std::span<const std::string> words);

}  // namespace vkf
