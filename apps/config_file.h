// Options in TOML files: one `key = value` to a line, under their names on the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vkf {

/// Of an option that may be given several times, a list.
using ConfigValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

struct ConfigEntry {
    std::string key;
    ConfigValue value;
    std::string where;  // "FILE:LINE: KEY", as complaints about it begin
};

/// The entries of a file in their order. Throws InputError "FILE:LINE: KEY: …" for what is not TOML, and for tables,
/// dates and lists of anything but text, which no option takes.
std::vector<ConfigEntry> read_config(const std::filesystem::path& path);

/// `KEY = VALUE` and a line end, strings escaped.
std::string toml_line(std::string_view key, const ConfigValue& value);

/// The value as it would stand on the command line, a list's between commas; a number with a point keeps it.
std::string argument(const ConfigValue& value);

/// Whether two values mean the same: 1 is 1.0.
bool same_value(const ConfigValue& a, const ConfigValue& b);

}  // namespace vkf
