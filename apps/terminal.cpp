#include "apps/terminal.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/os.h"
#include "base/utf8.h"

namespace vkf {

std::size_t terminal_columns(int descriptor) {
    if (const std::size_t told = os::terminal_columns(descriptor); told > 0) return told;
    const std::string digits = os::environment("COLUMNS").value_or("");
    std::size_t columns = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), columns);
    return columns > 0 ? columns : 80;
}

std::string_view cut_to_columns(std::string_view line, std::size_t columns) {
    std::size_t end = 0;
    for (; columns > 0 && end < line.size(); --columns)
        end += std::max<std::size_t>(1, decode_utf8(line, end).bytes);  // a byte that is no character has its place too
    return line.substr(0, end);
}

}  // namespace vkf
