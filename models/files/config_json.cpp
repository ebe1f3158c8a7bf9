#include "models/files/config_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "models/attention/variant.h"
#include "models/families/family.h"
#include "models/files/config_keys.h"
#include "models/files/marian_config.h"
#include "models/files/other_keys.h"
#include "models/files/timm_config.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

// --- Reading -------------------------------------------------------------------------------------

void read_fields(const ConfigKeys& keys, std::span<const Field> fields);

/// Reads the names "0", "1", …; empty if one is missing, or if they are LABEL_0, LABEL_1, …, which Hugging Face writes
/// for lack of names.
std::vector<std::string> read_class_names(const ConfigKeys& names, std::int64_t count) {
    std::vector<std::string> list;
    for (std::int64_t i = 0; i < count && names.has(std::to_string(i)); ++i)
        list.push_back(names.word(std::to_string(i), ""));
    const bool named = std::ssize(list) == count && !list.empty() && list[0] != "LABEL_0";
    return named ? list : std::vector<std::string>();
}

/// Number of classes; Hugging Face's files often have only their names, or neither if the number is the default.
std::int64_t read_classes(const ConfigKeys& keys, const Field& field) {
    const std::string key(field.key);
    if (!keys.has(key) && keys.has("id2label")) return keys.inner("id2label").size();
    return field.required ? keys.integer(key) : keys.integer(key, *std::get<IntRange>(field.value).value);
}

/// Keys of options that other variants have, but not that of these fields. Earlier versions wrote them, too, with their
/// defaults. Throws for any other value, which asks for what this variant does not do.
std::vector<std::string_view> read_other_options(const ConfigKeys& keys, std::span<const Field> fields);

/// Reads a value into a field that the file has.
struct Read {
    const ConfigKeys& keys;
    std::string key;

    void operator()(const IntRange& whole) const { *whole.value = keys.integer(key); }
    void operator()(const Number& number) const { *number.value = keys.number(key); }
    void operator()(bool* flag) const { *flag = keys.flag(key, false); }
    void operator()(const Choice& choice) const {
        const std::string word = keys.word(key, "");
        require_known(keys.where() + ": " + key, word, choice.words);
        choice.set(word);
    }
    void operator()(const ClassNames& classes) const {
        *classes.names = read_class_names(keys.inner(key), *classes.count);
    }
    void operator()(AttentionConfig* attention) const { read_object(*attention, read_other_options); }
    void operator()(AnyConfig* object) const {
        read_object(*object, [](const ConfigKeys&, std::span<const Field>) { return std::vector<std::string_view>(); });
    }

private:
    static std::vector<Field> names(AttentionConfig& attention) { return attention.names(); }
    static std::vector<Field> names(AnyConfig& object) { return {object.fields().front()}; }

    /// `others` returns the keys that are allowed although no field has them.
    void read_object(auto& object, auto others) const {
        const ConfigKeys inner = keys.inner(key);
        for (const Field& name : names(object))  // the other fields depend on them
            if (inner.has(std::string(name.key))) std::visit(Read{inner, std::string(name.key)}, name.value);
        const std::vector<Field> fields = object.fields();
        std::vector<std::string_view> known;
        for (const Field& field : fields) known.push_back(field.key);
        for (const std::string_view other : others(inner, fields)) known.push_back(other);
        inner.allow(known);
        read_fields(inner, fields);
    }
};

std::vector<std::string_view> read_other_options(const ConfigKeys& keys, std::span<const Field> fields) {
    std::vector<std::string_view> others;
    for (const AttentionVariant* variant : variants()) {
        AnyConfig options = variant->options;
        for (const Field& option : options.fields()) {
            const std::string key(option.key);
            if (!keys.has(key) || std::ranges::find(fields, option.key, &Field::key) != fields.end()) continue;
            std::visit(Read{keys, key}, option.value);
            require(options == variant->options, keys.where(), ": ", key, " is ", shown(option), ", but variant is ",
                    keys.word("variant", "standard"), ": wanted ", variant->name, " with it");
            others.push_back(option.key);
        }
    }
    return others;
}

void read_fields(const ConfigKeys& keys, std::span<const Field> fields) {
    for (const Field& field : fields) {
        const std::string key(field.key);
        if (field.dimension == Dimension::classes)
            *std::get<IntRange>(field.value).value = read_classes(keys, field);
        else if (field.saved && (field.required || keys.has(key)))
            std::visit(Read{keys, key}, field.value);
    }
}

// --- Writing -------------------------------------------------------------------------------------

ordered_json object_of(std::span<const Field> fields);

/// Adds a field to an object. A number that is 0 because it is unset becomes null; choices of none and objects with
/// nothing chosen are left out.
struct Write {
    ordered_json& object;
    std::string key;

    void operator()(const IntRange& whole) const {
        object[key] = whole.resolved() || whole.counts_zero ? ordered_json(whole.resolved()) : ordered_json();
    }
    /// Writes 1e-5 as such, not with the further digits of its nearest float.
    void operator()(const Number& number) const { object[key] = std::stod(shortest(*number.value)); }
    void operator()(const bool* flag) const { object[key] = *flag; }
    void operator()(const Choice& choice) const {
        if (const std::string word = choice.get(); word != "none") object[key] = word;
    }
    void operator()(const ClassNames& classes) const {
        for (std::size_t i = 0; i < classes.names->size(); ++i) {
            const std::string& name = (*classes.names)[i];
            object[key][std::to_string(i)] = name;
            object["label2id"][name] = i;
        }
    }
    void operator()(AttentionConfig* attention) const {
        if (*attention != AttentionConfig()) object[key] = object_of(attention->fields());
    }
    void operator()(AnyConfig* inner) const {
        const std::vector<Field> fields = inner->fields();
        const Choice& word = std::get<Choice>(fields.front().value);
        if (word.get() != word.words.front()) object[key] = object_of(fields);
    }
};

ordered_json object_of(std::span<const Field> fields) {
    ordered_json object;
    for (const Field& field : fields)
        if (field.saved) std::visit(Write{object, std::string(field.key)}, field.value);
    return object;
}

/// Keys that a configuration may have besides a model's fields. Earlier versions of Hugging Face's library kept
/// defaults of generation here, which are checked where text is generated.
std::vector<OtherKey> known_beside_fields() {
    std::vector<OtherKey> all(other_config_keys().begin(), other_config_keys().end());
    for (const OtherKey& key : other_generation_keys()) all.push_back({key.name});
    return all;
}

/// The file's keys in Hugging Face's form.
nlohmann::json standard_keys(nlohmann::json object, const std::string& where) {
    const ConfigKeys keys(where, object);
    if (is_marian_config(keys)) return marian_model(keys);
    return is_timm_config(keys) ? timm_model(keys) : object;
}

/// First of Hugging Face's classes that the file names; empty if there is none.
std::string architecture_of(const ConfigKeys& keys) {
    if (!keys.has("architectures")) return {};
    const std::vector<std::string> classes = keys.words("architectures");
    return classes.empty() ? "" : classes.front();
}

const Family& family_of(const ConfigKeys& keys) {
    try {
        return family_named(keys.word("model_type", std::string(families().front()->model_type)),
                            architecture_of(keys));
    } catch (const InputError& error) {
        throw InputError(keys.where(), ": ", error.what());
    }
}

}  // namespace

const Family& read_family(const std::filesystem::path& path) {
    const std::string where = path.string();
    return family_of(ConfigKeys(where, standard_keys(parse_json(read_small_text(path), where), where)));
}

ModelConfig read_config_json(const std::filesystem::path& path) {
    return parse_config_json(read_small_text(path), path.string());
}

ModelConfig parse_config_json(std::string_view text, const std::string& where) {
    nlohmann::json object = standard_keys(parse_json(text, where), where);
    const Family& family = family_of(ConfigKeys(where, object));
    if (family.rename_keys) family.rename_keys(object);
    const ConfigKeys keys(where, std::move(object));
    require(!keys.has("quantization_config"), where,
            ": 'quantization_config' is there, wanted weights in F32, F16 or BF16");
    ModelConfig config = family.defaults();
    const std::vector<Field> fields = config.fields();
    read_fields(keys, fields);
    std::vector<std::string_view> read;
    for (const Field& field : fields) read.push_back(field.key);
    require_understood(keys, read, known_beside_fields());
    try {
        validate(config);
    } catch (const InputError& error) {
        throw InputError(where, ": ", error.what());
    }
    return config;
}

std::string config_json_text(const ModelConfig& config) {
    ModelConfig copy = config;
    const Family& family = config.family();
    ordered_json object{{"architectures", {family.architecture}}, {"model_type", family.model_type}};
    object.update(object_of(copy.fields()));
    // Folder names need not be UTF-8; JSON must be.
    return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace vkf
