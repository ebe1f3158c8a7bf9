#include "models/tokenizers/sentencepiece/protobuf_fields.h"

namespace vkf {
namespace {

enum WireType : std::uint64_t { VARINT = 0, FIXED_64 = 1, LENGTH = 2, FIXED_32 = 5 };

constexpr int VARINT_BYTES = 10;  // at most, of 7 bits each

void append_varint(std::string& message, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) message += static_cast<char>((value & 0x7f) | 0x80);
    message += static_cast<char>(value);
}

}  // namespace

std::optional<std::uint64_t> ProtobufFields::varint() {
    std::uint64_t value = 0;
    for (int i = 0; i < VARINT_BYTES && !rest_.empty(); ++i) {
        const auto byte = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fU} << 7 * i;
        if (byte < 0x80) return value;
    }
    return {};
}

std::optional<std::string_view> ProtobufFields::take(std::uint64_t bytes) {
    if (bytes > rest_.size()) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
}

std::optional<ProtobufField> ProtobufFields::next() {
    if (rest_.empty() || broken_) return {};
    broken_ = true;  // until the field is whole
    const auto key = varint();
    if (!key) return {};
    ProtobufField field{.number = *key >> 3};
    switch (*key & 7) {
        case VARINT:
            if (const auto value = varint()) {
                field.value = *value;
                broken_ = false;
            }
            break;
        case FIXED_64:
            broken_ = !take(8);
            break;
        case FIXED_32:
            broken_ = !take(4);
            break;
        case LENGTH:
            if (const auto length = varint()) field.bytes = take(*length);
            broken_ = !field.bytes;
            break;
        default:
            break;
    }
    return broken_ ? std::nullopt : std::optional(field);
}

void append_protobuf(std::string& message, std::uint64_t number, std::string_view bytes) {
    append_varint(message, number << 3 | LENGTH);
    append_varint(message, bytes.size());
    message += bytes;
}

void append_protobuf(std::string& message, std::uint64_t number, std::uint64_t value) {
    append_varint(message, number << 3 | VARINT);
    append_varint(message, value);
}

}  // namespace vkf
