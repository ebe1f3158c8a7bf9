// The fields of a protocol buffer message, read within its bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vkf {

/// A field, and its bytes if it is of a kind that has a length: a string, bytes or a message of its own.
struct ProtobufField {
    std::uint64_t number = 0;
    std::optional<std::string_view> bytes;
};

/// Goes through a message field by field, in memory that does not grow with it. Groups, which the format has given up,
/// are taken for a fault.
class ProtobufFields {
public:
    /// `message` must outlive it and the fields.
    explicit ProtobufFields(std::string_view message) : rest_(message) {}

    /// The next field; nothing at the end, or where the bytes are no fields.
    std::optional<ProtobufField> next();
    /// Whether all of the message was fields.
    bool complete() const { return rest_.empty() && !broken_; }

private:
    std::optional<std::uint64_t> varint();
    std::optional<std::string_view> take(std::uint64_t bytes);

    std::string_view rest_;
    bool broken_ = false;
};

}  // namespace vkf
