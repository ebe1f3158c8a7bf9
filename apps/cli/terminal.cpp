#include "apps/cli/terminal.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/os/os.h"
#include "base/text/utf8.h"

namespace vkf {

bool rewrites_lines(int descriptor) {
    return os::is_terminal(descriptor) && os::environment("TERM") != "dumb";
}

std::size_t terminal_columns(int descriptor) {
    if (const std::size_t told = os::terminal_columns(descriptor); told > 0) return told;
    const std::string digits = os::environment("COLUMNS").value_or("");
    std::size_t columns = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), columns);
    return columns > 0 ? columns : 80;
}

namespace {

/// Number of bytes of the character that starts at byte `at`; 1 for a byte that is not a character.
std::size_t bytes_at(std::string_view line, std::size_t at) {
    return std::max<std::size_t>(1, decode_utf8(line, at).bytes);
}

}  // namespace

std::string_view cut_to_columns(std::string_view line, std::size_t columns) {
    std::size_t end = 0;
    for (; columns > 0 && end < line.size(); --columns) end += bytes_at(line, end);
    return line.substr(0, end);
}

std::size_t columns_of(std::string_view line) {
    std::size_t columns = 0;
    for (std::size_t at = 0; at < line.size(); at += bytes_at(line, at)) ++columns;
    return columns;
}

}  // namespace vkf
