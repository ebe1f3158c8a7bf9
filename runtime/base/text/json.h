// JSON from other programs: parsed completely, or refused with one line.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace vkf {

/// Limit of nesting: more than any file of this program has, and far below the depth at which copying or printing a
/// value exhausts the stack.
inline constexpr std::size_t JSON_DEPTH = 32;

/// Parses a text that is one value. Messages begin with `subject`, which names the file and, if the text is only a part
/// of it, the part: "config.json: line 3".
/// Throws: InputError if the text is not JSON (naming the byte), has a zero byte, nests objects and arrays deeper than
/// `depth`, or has a key twice in one object, of which a parser would keep only one.
nlohmann::json parse_json(std::string_view words, const std::string& subject, std::size_t depth = JSON_DEPTH);

/// Value as text for a message: always one line, and short.
std::string one_line(const nlohmann::json& value);

}  // namespace vkf
