#include "models/data/text/npy.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace vkf {
namespace {

/// Text after `'key':` in a dictionary, from its first character that is no space; empty if there is no such key.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
    const std::size_t at = dictionary.find(text('\'', key, "':"));
    if (at == std::string_view::npos) return {};
    const std::string_view rest = dictionary.substr(at + key.size() + 3);
    return rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
}

/// Returns the header's characters and leaves in `bytes` the data after them.
std::string_view take_header(const std::string& file, std::span<const std::byte>& bytes) {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    require(all.starts_with("\x93NUMPY"), file, ": does not begin as a .npy file does");
    require(all.size() >= 12, file, ": is cut short in its header");
    const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
    const std::size_t version = at(6);
    require(version >= 1 && version <= 3, file, ": .npy format version ", version, ", wanted 1, 2 or 3");
    const std::size_t begin = version == 1 ? 10 : 12;
    const std::size_t length = at(8) + (at(9) << 8) + (version == 1 ? 0 : (at(10) << 16) + (at(11) << 24));
    require(all.size() - begin >= length, file, ": is cut short in its header");
    bytes = bytes.subspan(begin + length);
    return all.substr(begin, length);
}

/// Reads the only extent of a shape such as "(100, )"; false if the shape is another.
bool read_extent(std::string_view shape, std::uint64_t& extent) {
    if (!shape.starts_with('(')) return false;
    const auto [end, error] = std::from_chars(shape.data() + 1, shape.data() + shape.size(), extent);
    const std::string_view rest = shape.substr(static_cast<std::size_t>(end - shape.data()));
    return error == std::errc() && rest.substr(0, rest.find(')')).find_first_not_of(", ") == std::string_view::npos &&
           rest.find(')') != std::string_view::npos;
}

}  // namespace

NpyArray npy_array(const std::string& file, std::span<const std::byte> bytes) {
    const std::size_t size = bytes.size();
    const std::string_view header = take_header(file, bytes);
    const std::string_view type = value_of(header, "descr"), shape = value_of(header, "shape");
    const std::size_t quote = type.find('\'', 1);
    require(type.starts_with('\'') && quote != std::string_view::npos, file, ": its header names no type of elements");
    NpyArray array{std::string(type.substr(1, quote - 1)), bytes};
    std::uint64_t count = 0, width = 0;
    require(read_extent(shape, count), file, ": has the shape ", shape.substr(0, shape.find(')') + 1),
            ", wanted an array of one dimension");
    const std::string digits = array.type.substr(std::min<std::size_t>(2, array.type.size()));
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
    require(error == std::errc() && *last == 0 && width > 0, file, ": elements of type '", array.type,
            "', wanted numbers");
    require(bytes.size() % width == 0 && bytes.size() / width == count, file, ": header says ", count, " elements of ",
            width, " bytes, but ", bytes.size(), " bytes follow");
    require((size - bytes.size()) % width == 0, file, ": elements begin at byte ", size - bytes.size(),
            ", wanted a multiple of their size");
    return array;
}

}  // namespace vkf
