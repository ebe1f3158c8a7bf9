// What a terminal has room for.
#pragma once

#include <cstddef>
#include <string_view>

namespace vkf {

/// Whether a line can be written over another on what is behind a descriptor: a terminal, unless $TERM says "dumb".
bool rewrites_lines(int descriptor);

/// The width of the terminal behind a descriptor, as it is now: what the system says, else $COLUMNS, else 80.
std::size_t terminal_columns(int descriptor);

/// The beginning of a line of UTF-8, at most `columns` characters of it.
std::string_view cut_to_columns(std::string_view line, std::size_t columns);

/// The columns that a line of UTF-8 takes, one for each character.
std::size_t columns_of(std::string_view line);

}  // namespace vkf
