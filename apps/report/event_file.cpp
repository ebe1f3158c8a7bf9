#include "apps/report/event_file.h"

#include <array>
#include <bit>

namespace vkf {

namespace {

/// Kinds of values in the wire format.
enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

/// Appends seven bits to a byte, the lowest first; the highest bit of a byte says that another byte follows.
void append_varint(std::string& wire, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) wire.push_back(static_cast<char>(value | 0x80));
    wire.push_back(static_cast<char>(value));
}

void append_key(std::string& wire, std::uint32_t field, WireType type) {
    append_varint(wire, std::uint64_t{field} << 3 | static_cast<std::uint32_t>(type));
}

template <class Word>
void append_little_endian(std::string& wire, Word word) {
    for (std::size_t i = 0; i < sizeof word; ++i) wire.push_back(static_cast<char>(word >> (8 * i) & 0xff));
}

/// CRC-32C of every byte.
constexpr std::array<std::uint32_t, 256> crc_table() {
    constexpr std::uint32_t polynomial = 0x82f63b78;  // bits reversed
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
        table[byte] = crc;
    }
    return table;
}

std::uint32_t masked(std::uint32_t crc) {
    return std::rotr(crc, 15) + 0xa282ead8;
}

}  // namespace

ProtobufMessage& ProtobufMessage::varint(std::uint32_t field, std::int64_t value) {
    append_key(wire_, field, WireType::varint);
    append_varint(wire_, static_cast<std::uint64_t>(value));
    return *this;
}

ProtobufMessage& ProtobufMessage::real(std::uint32_t field, double value) {
    append_key(wire_, field, WireType::fixed64);
    append_little_endian(wire_, std::bit_cast<std::uint64_t>(value));
    return *this;
}

ProtobufMessage& ProtobufMessage::real32(std::uint32_t field, float value) {
    append_key(wire_, field, WireType::fixed32);
    append_little_endian(wire_, std::bit_cast<std::uint32_t>(value));
    return *this;
}

ProtobufMessage& ProtobufMessage::bytes(std::uint32_t field, std::string_view value) {
    append_key(wire_, field, WireType::length_delimited);
    append_varint(wire_, value.size());
    wire_ += value;
    return *this;
}

std::uint32_t crc32c(std::string_view bytes) {
    static constexpr std::array<std::uint32_t, 256> table = crc_table();
    std::uint32_t crc = 0xffffffff;
    for (const char byte : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
    return ~crc;
}

std::string tf_record(std::string_view data) {
    std::string record;
    append_little_endian(record, std::uint64_t{data.size()});
    append_little_endian(record, masked(crc32c(record)));
    record += data;
    append_little_endian(record, masked(crc32c(data)));
    return record;
}

}  // namespace vkf
