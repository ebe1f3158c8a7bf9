// Files that TensorBoard reads: records of TFRecord, each of which is a message of Protocol Buffers. The messages are
// few and small, so they are written here; libprotobuf and its compiler would be by far the largest dependency.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vkf {

/// A message of Protocol Buffers in its wire format: fields in the order in which they are added. Numbers and kinds of
/// fields are those of the message's .proto file. A field's value is one of
/// - varint: int32, int64, bool or an enumeration; a negative number takes ten bytes;
/// - real and real32: double and float;
/// - bytes: bytes, or a string, which must be UTF-8;
/// - message: another message; an entry of a map is a message of a key (1) and a value (2).
class ProtobufMessage {
public:
    ProtobufMessage& varint(std::uint32_t field, std::int64_t value);
    ProtobufMessage& real(std::uint32_t field, double value);
    ProtobufMessage& real32(std::uint32_t field, float value);
    ProtobufMessage& bytes(std::uint32_t field, std::string_view value);
    ProtobufMessage& message(std::uint32_t field, const ProtobufMessage& value) { return bytes(field, value.wire_); }

    const std::string& wire() const { return wire_; }

private:
    std::string wire_;
};

/// CRC-32C of the bytes (Castagnoli's polynomial, RFC 3720, B.4): 0xe3069283 for "123456789".
std::uint32_t crc32c(std::string_view bytes);

/// A record of a TFRecord file: the data's length in 64 bits, the length's CRC, the data and their CRC; little-endian.
/// A CRC is stored masked, rotated right by 15 bits plus 0xa282ead8, because data that contain CRCs may be stored, too.
std::string tf_record(std::string_view data);

}  // namespace vkf
