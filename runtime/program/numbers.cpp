#include "program/numbers.h"

#include <algorithm>

#include "base/half.h"

namespace vkf {

namespace {

template <class Number>
std::vector<Number> copied(std::span<const std::byte> bytes) {
    std::vector<Number> values(bytes.size() / sizeof(Number));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
    return values;
}

}  // namespace

std::vector<float> floats_of(std::span<const std::byte> bytes, Format format) {
    if (format == Format::f32) return copied<float>(bytes);
    const std::vector<std::uint16_t> packed = copied<std::uint16_t>(bytes);
    std::vector<float> values(packed.size());
    std::ranges::transform(packed, values.begin(), format == Format::bf16 ? from_bfloat16 : from_half);
    return values;
}

std::vector<std::byte> bytes_of(std::span<const float> values, Format format) {
    const auto whole = std::as_bytes(values);
    if (format == Format::f32) return {whole.begin(), whole.end()};
    std::vector<std::uint16_t> packed(values.size());
    std::ranges::transform(values, packed.begin(), format == Format::bf16 ? to_bfloat16 : to_half);
    const auto bytes = std::as_bytes(std::span(packed));
    return {bytes.begin(), bytes.end()};
}

std::vector<std::int32_t> ints_of(std::span<const std::byte> bytes) {
    return copied<std::int32_t>(bytes);
}

}  // namespace vkf
