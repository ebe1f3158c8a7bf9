#include "apps/cli/config_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/files/file.h"

// toml++ 3.3 asserts properties that files need not have and, without assertions, lets the compiler assume them.
// Assertions are kept here, and a failed one is a syntax error.
struct FailedAssertion {};
[[noreturn]] static void refuse_syntax() {
    throw FailedAssertion();
}
#undef NDEBUG
#define TOML_ASSERT(expression) ((expression) ? void() : refuse_syntax())
#include <toml++/toml.h>

namespace vkf {

namespace {

std::string_view trimmed(std::string_view words) {
    const std::size_t first = words.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return words.substr(first, words.find_last_not_of(" \t\r") - first + 1);
}

std::string_view line_of(std::string_view file, std::size_t number) {
    for (; number > 1 && file.find('\n') != std::string_view::npos; --number) file.remove_prefix(file.find('\n') + 1);
    return file.substr(0, file.find('\n'));
}

/// Place in a line of TOML outside of comments and texts in quotes: true in a bare word, in which a quote opens no
/// text, as in 1e"x". A value's bare word ends at a blank or one of ],}; a key's also at =.[
class BareWords {
public:
    bool in_word() const { return word_; }
    void end_line() {
        word_ = false;
        if (lists_ == 0) value_ = false;
    }
    void end_text() { word_ = true; }
    void take(char c) {
        if (std::strchr(value_ ? " \t\r],}" : " \t\r].[", c) && c != 0) {
            if (value_ && c == ']' && lists_ > 0) --lists_;
            word_ = false;
        } else if (!value_ && c == '=') {
            value_ = true;
            word_ = false;
        } else if (!word_ && (c == '[' || c == '{')) {
            if (c == '[') ++lists_;
        } else {
            word_ = true;
        }
    }

private:
    bool value_ = false;  // behind the line's first =, or in a list
    bool word_ = false;
    int lists_ = 0;  // open lists
};

/// First line with a character beyond ASCII in a bare word or in a text of several lines; 0 if there is none. toml++
/// 3.3 has undefined behaviour when it tests if such a character is white space.
std::size_t line_beyond_ascii(std::string_view file) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    std::size_t line = 1;
    bool comment = false, several_lines = false;
    char quote = 0;  // quote of the open text
    BareWords words;
    const auto thrice = [&](std::size_t i, char c) { return file.substr(i, 3) == std::string(3, c); };
    for (std::size_t i = file.starts_with(byte_order_mark) ? 3 : 0; i < file.size(); ++i) {
        const char c = file[i];
        if (c == '\n') {
            ++line;
            comment = false;
            if (!several_lines) quote = 0;
            if (!quote) words.end_line();
        } else if (comment) {
            continue;
        } else if (static_cast<unsigned char>(c) > 127 && (!quote || several_lines)) {
            return line;
        } else if (!quote && c == '#') {
            comment = true;
        } else if (!quote && (c == '"' || c == '\'') && !words.in_word()) {
            quote = c;
            several_lines = thrice(i, c);
            if (several_lines) i += 2;
        } else if (quote == '"' && c == '\\' && file.substr(i + 1, 1) != "\n") {
            ++i;
        } else if (c == quote && (!several_lines || thrice(i, c))) {
            if (several_lines) i = std::min(file.find_first_not_of(c, i + 3), i + 5) - 1;  // two may precede three
            quote = 0;
            several_lines = false;
            words.end_text();
        } else if (!quote) {
            words.take(c);
        }
    }
    return 0;
}

/// Message about a line that is not TOML, as far as its text tells; `reason` is the parser's.
std::string syntax_error(const std::string& where, std::string_view line, std::string_view reason) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return text(where, "found '", trimmed(line), "', wanted KEY = VALUE");
    const std::string_view value = trimmed(line.substr(equals + 1));
    const std::string key = text(where, trimmed(line.substr(0, equals)), ": ");
    if (value.empty() || value[0] == '#') return key + "there is no value after '='";
    const auto wordlike = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || std::strchr("-_/.", c); };
    if (std::isalpha(static_cast<unsigned char>(value[0])) && std::ranges::all_of(value, wordlike))
        return text(key, "found ", value, ", wanted a number, true, false, or text in quotes: \"", value, '"');
    return text(key, "not TOML: ", reason);
}

/// Value of a list; nothing unless all items are text.
std::optional<ConfigValue> list_value(const toml::array& list) {
    std::vector<std::string> words;
    for (const toml::node& node : list) {
        if (!node.is_string()) return {};
        words.push_back(node.as_string()->get());
    }
    return words;
}

std::optional<ConfigValue> config_value(const toml::node& node) {
    if (const auto* list = node.as_array()) return list_value(*list);
    if (const auto* flag = node.as_boolean()) return ConfigValue(flag->get());
    if (const auto* whole = node.as_integer()) return ConfigValue(whole->get());
    if (const auto* number = node.as_floating_point()) return ConfigValue(number->get());
    if (const auto* words = node.as_string()) return ConfigValue(words->get());
    return {};
}

const char* kind_of(const toml::node& node) {
    return node.is_table() ? "a table" : node.is_array() ? "a list" : "a date or time";
}

toml::table parsed(const std::filesystem::path& path) {
    const std::string file = read_text(path);
    const std::size_t beyond = line_beyond_ascii(file);
    require(beyond == 0, path.string(), ':', beyond, ": a character beyond ASCII, wanted it in a text in quotes");
    try {
        return toml::parse(std::string_view(file), path.string());
    } catch (const toml::parse_error& error) {
        const std::size_t line = error.source().begin.line;
        throw InputError(syntax_error(text(path.string(), ':', line, ": "), line_of(file, line), error.description()));
    } catch (const FailedAssertion&) {
        throw InputError(path.string(), ": not TOML: unexpected characters");
    }
}

/// Text of a key. `place` is "FILE:LINE: ".
std::string key_text(const toml::key& key, const std::string& place) {
    std::string name(std::string_view{key});
    require(name.find('\0') == std::string::npos, place, "the key has a zero byte");
    return name;
}

/// The value of a node that is no list. `where` is "FILE:LINE: KEY".
ConfigValue single_value(const toml::node& node, const std::string& where) {
    const auto* words = node.as_string();
    require(!words || words->get().find('\0') == std::string::npos, where, ": the text has a zero byte");
    const std::optional<ConfigValue> value = node.is_array() ? std::nullopt : config_value(node);
    require(value.has_value(), where, ": found ", kind_of(node),
            ", wanted one value: text in quotes, a number, true or false");
    return *value;
}

ConfigItem item_of(const std::string& table, std::string key, const toml::node& node, const std::string& where) {
    ConfigItem made{table, std::move(key), {}, where};
    if (const auto* list = node.as_array())
        for (const toml::node& each : *list) made.values.push_back(single_value(each, where));
    else
        made.values.push_back(single_value(node, where));
    require(!made.values.empty(), where, ": the list is empty");
    return made;
}

}  // namespace

std::vector<ConfigItem> read_config_items(const std::filesystem::path& path) {
    std::vector<std::pair<std::size_t, ConfigItem>> found;
    const auto take = [&](const std::string& table, const toml::key& key, const toml::node& node) {
        const std::size_t line = node.source().begin.line;
        const std::string place = text(path.string(), ':', line, ": "), name = key_text(key, place);
        found.emplace_back(line, item_of(table, name, node, place + name));
    };
    const toml::table whole = parsed(path);
    for (auto&& [key, node] : whole) {
        const auto* table = node.as_table();
        if (!table) {
            take("", key, node);
            continue;
        }
        const std::string name = key_text(key, text(path.string(), ':', node.source().begin.line, ": "));
        for (auto&& [inner, value] : *table) take(name, inner, value);
    }
    std::ranges::stable_sort(found, {}, &std::pair<std::size_t, ConfigItem>::first);
    std::vector<ConfigItem> items;
    for (auto& [line, item] : found) items.push_back(std::move(item));
    return items;
}

std::vector<ConfigEntry> read_config(const std::filesystem::path& path) {
    const toml::table table = parsed(path);
    std::vector<std::pair<std::size_t, ConfigEntry>> found;
    for (auto&& [key, node] : table) {
        const std::size_t line = node.source().begin.line;
        const std::string place = text(path.string(), ':', line, ": "), name = key_text(key, place),
                          where = place + name;
        const std::optional<ConfigValue> value = config_value(node);
        const auto* words = node.as_string();
        require(!words || words->get().find('\0') == std::string::npos, where, ": the text has a zero byte");
        require(value.has_value(), where, ": found ", kind_of(node),
                ", wanted one value: text in quotes, a number, true or false");
        found.emplace_back(line, ConfigEntry{name, *value, where});
    }
    std::ranges::stable_sort(found, {}, &std::pair<std::size_t, ConfigEntry>::first);
    std::vector<ConfigEntry> entries;
    for (auto& [line, entry] : found) entries.push_back(std::move(entry));
    return entries;
}

std::string toml_line(std::string_view key, const ConfigValue& value) {
    std::ostringstream line;
    line << key << " = ";
    const auto quote = [&](const std::string& words) {
        line << toml::toml_formatter(toml::value<std::string>(words), toml::format_flags::none);
    };
    if (const std::string* words = std::get_if<std::string>(&value)) {
        quote(*words);
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        line << '[';
        for (const std::string& item : *list) {
            if (&item != &list->front()) line << ", ";
            quote(item);
        }
        line << ']';
    } else {
        line << argument(value);  // the fewest digits
    }
    line << '\n';
    return line.str();
}

std::string argument(const ConfigValue& value) {
    if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const std::string* words = std::get_if<std::string>(&value)) return *words;
    if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        std::string joined;
        for (const std::string& item : *list) joined += (joined.empty() ? "" : ",") + item;
        return joined;
    }
    std::array<char, 64> buffer;
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::get<double>(value));
    std::string words(buffer.data(), end);
    if (words.find_first_not_of("-0123456789") == std::string::npos) words += ".0";
    return words;
}

bool same_value(const ConfigValue& a, const ConfigValue& b) {
    if (a == b) return true;
    const auto number = [](const ConfigValue& value) -> std::optional<double> {
        if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
        if (const double* real = std::get_if<double>(&value)) return *real;
        return {};
    };
    const std::optional<double> left = number(a), right = number(b);
    return left && right && *left == *right;
}

}  // namespace vkf
