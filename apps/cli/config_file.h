// Options in TOML files: one `key = value` per line, named as on the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vkf {

/// Value of an option; a list if the option may be given several times.
using ConfigValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

struct ConfigEntry {
    std::string key;
    ConfigValue value;
    std::string where;  // "FILE:LINE: KEY", the beginning of messages about the entry
};

/// Entries of a file in their order. Throws InputError "FILE:LINE: KEY: …" for invalid TOML, and for tables, dates and
/// lists of anything but text, which no option takes.
std::vector<ConfigEntry> read_config(const std::filesystem::path& path);

/// Entry of a file that has tables: one value, or a list of at least one.
struct ConfigItem {
    std::string table;  // "" at the top of the file
    std::string key;
    std::vector<ConfigValue> values;
    std::string where;  // "FILE:LINE: KEY"
};

/// Entries of a file whose tables contain no others, in their order. Throws as read_config does, also for an empty list
/// and for a list in a list.
std::vector<ConfigItem> read_config_items(const std::filesystem::path& path);

/// `KEY = VALUE` and a line end, strings escaped.
std::string toml_line(std::string_view key, const ConfigValue& value);

/// The value as written on the command line, list items separated by commas; a number with a decimal point keeps the
/// point.
std::string argument(const ConfigValue& value);

/// True if two values are equal; 1 equals 1.0.
bool same_value(const ConfigValue& a, const ConfigValue& b);

}  // namespace vkf
