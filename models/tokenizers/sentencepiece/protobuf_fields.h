// Reads the fields of a protocol buffer message, within its bounds, and writes some.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vkf {

/// A field, its bytes if its kind has a length (a string, bytes or an inner message), and its value if it is a number
/// of varying length.
struct ProtobufField {
    std::uint64_t number = 0;
    std::optional<std::string_view> bytes = {};
    std::uint64_t value = 0;
};

/// Reads a message field by field, in memory that does not grow with it. Groups, which the format has abandoned, count
/// as errors.
class ProtobufFields {
public:
    /// `message` must outlive the reader and the fields.
    explicit ProtobufFields(std::string_view message) : rest_(message) {}

    /// The next field; nothing at the end, or if the bytes are no field.
    std::optional<ProtobufField> next();
    /// True if the whole message was read as fields.
    bool complete() const { return rest_.empty() && !broken_; }

private:
    std::optional<std::uint64_t> varint();
    std::optional<std::string_view> take(std::uint64_t bytes);

    std::string_view rest_;
    bool broken_ = false;
};

/// Append a field to a message: bytes with their length, and a number of varying length.
void append_protobuf(std::string& message, std::uint64_t number, std::string_view bytes);
void append_protobuf(std::string& message, std::uint64_t number, std::uint64_t value);

}  // namespace vkf
