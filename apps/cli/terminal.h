// Width of terminals, and text cut to it.
#pragma once

#include <cstddef>
#include <string_view>

namespace vkf {

/// True if a line can be written over another at a descriptor: it is a terminal, and $TERM is not "dumb".
bool rewrites_lines(int descriptor);

/// Current width of a descriptor's terminal: from the system, else from $COLUMNS, else 80.
std::size_t terminal_columns(int descriptor);

/// Beginning of a line of UTF-8, at most `columns` characters.
std::string_view cut_to_columns(std::string_view line, std::size_t columns);

/// Columns that a line of UTF-8 takes, one per character.
std::size_t columns_of(std::string_view line);

}  // namespace vkf
