// Words of a line, as scores of translations count them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// The parts of a text between Unicode's whitespace, as Python's str.split() returns them. The text is UTF-8.
std::vector<std::string> split_at_whitespace(std::string_view text);

/// Words and punctuation of a line, divided as NIST's mteval-v13a.pl and sacrebleu's tokenizer `13a` do: ASCII symbols
/// stand alone, periods and commas unless they are between digits, and a dash after a digit; four entities of SGML are
/// decoded. The line is UTF-8.
std::vector<std::string> words_13a(std::string_view line);

}  // namespace vkf
