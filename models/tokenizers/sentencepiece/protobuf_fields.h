// Reads the fields of a protocol buffer message, within its bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vkf {

/// A field, and its bytes if its kind has a length: a string, bytes or an inner message.
struct ProtobufField {
    std::uint64_t number = 0;
    std::optional<std::string_view> bytes;
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

}  // namespace vkf
