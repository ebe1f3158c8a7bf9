// Random Unicode strings, the same as those of tests/golden/make_tokens.mjs.
#pragma once

#include <cstdint>
#include <string>

#include "base/text/utf8.h"

namespace vkf::test {

class RandomText {
public:
    std::string next() {
        std::string string;
        std::size_t range = 0;
        for (std::uint32_t left = draw(48); left > 0; --left) {
            if (draw(3) == 0) range = draw(static_cast<std::uint32_t>(std::size(RANGES)));
            const auto [first, last] = RANGES[range];
            append_utf8(string, first + draw(last - first + 1));
        }
        return string;
    }

private:
    struct Range {
        char32_t first, last;
    };
    static constexpr Range RANGES[] = {
        {0x61, 0x7a},     {0x41, 0x5a},       {0x30, 0x39},       {0x20, 0x20},       {0x20, 0x7e},
        {0x00, 0x1f},     {0x0a, 0x0a},       {0x0d, 0x0d},       {0x27, 0x27},       {0xa0, 0xff},
        {0x100, 0x17e},   {0x180, 0x24f},     {0x250, 0x2af},     {0x300, 0x36f},     {0x3b1, 0x3c9},
        {0x400, 0x45f},   {0x5d0, 0x5ea},     {0x621, 0x63a},     {0x660, 0x669},     {0x905, 0x939},
        {0xe01, 0xe30},   {0x10d0, 0x10f0},   {0x1680, 0x1680},   {0x180e, 0x180e},   {0x2000, 0x200a},
        {0x200b, 0x200f}, {0x2010, 0x2027},   {0x2028, 0x2029},   {0x2074, 0x2079},   {0x20a0, 0x20bf},
        {0x2160, 0x2188}, {0x2190, 0x21ff},   {0x3000, 0x3000},   {0x3041, 0x3096},   {0x4e00, 0x9fa5},
        {0xac00, 0xd7a3}, {0xe000, 0xe0ff},   {0xfb00, 0xfb06},   {0xfe0f, 0xfe0f},   {0xff01, 0xff5e},
        {0xfffd, 0xfffd}, {0x1d400, 0x1d454}, {0x1f300, 0x1f5ff}, {0x1f600, 0x1f64f}, {0x20000, 0x2a6d6},
    };

    std::uint32_t draw(std::uint32_t n) {
        state_ = state_ * 1664525u + 1013904223u;
        return static_cast<std::uint32_t>(std::uint64_t{state_} * n >> 32);
    }

    std::uint32_t state_ = 2026;
};

}  // namespace vkf::test
