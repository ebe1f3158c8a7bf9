// JSON that others wrote: parsed whole or refused in one line.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace vkf {

/// Deeper than any file of ours nests, and far from what would exhaust the stack when values are copied or printed.
inline constexpr std::size_t JSON_DEPTH = 32;

/// The one value that a text is. Messages begin with `subject`, which names the file and, if it is not the whole of it,
/// the part: "config.json: line 3".
/// Throws: InputError if the text is not JSON (naming the byte), has a zero byte, nests objects and arrays deeper than
/// `depth`, or gives an object the same key twice, of which a parser would keep but one.
nlohmann::json parse_json(std::string_view words, const std::string& subject, std::size_t depth = JSON_DEPTH);

/// A value for a message: one line whatever it holds, and short.
std::string one_line(const nlohmann::json& value);

}  // namespace vkf
