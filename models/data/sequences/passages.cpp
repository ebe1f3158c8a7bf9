#include "models/data/sequences/passages.h"

#include <cmath>
#include <cstdint>

namespace vkf {

namespace {

/// True if the byte continues a character: 10xxxxxx.
bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u;
}

}  // namespace

Passages cut_passages(std::string_view text, std::size_t bytes, const PassageShares& shares) {
    std::vector<std::string_view> all;
    while (text.size() >= bytes) {
        std::size_t size = bytes;
        while (size < text.size() && size > 0 && continues(text[size])) --size;
        if (size == 0) break;  // a character is longer than a passage
        all.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    const auto share = [&](double part) {
        return static_cast<std::ptrdiff_t>(std::floor(part * static_cast<double>(all.size())));
    };
    const auto test = all.end() - share(shares.test), val = test - share(shares.val);
    return {{all.begin(), val}, {val, test}, {test, all.end()}};
}

}  // namespace vkf
