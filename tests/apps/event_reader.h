// A reader of TFRecord files and of Protocol Buffers' wire format that shares no code with their writer.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace vkf::test {

/// CRC-32C by polynomial division, bit by bit.
inline std::uint32_t divided_crc32c(std::string_view bytes) {
    std::uint32_t remainder = 0xffffffffu;
    for (const char c : bytes)
        for (int bit = 0; bit < 8; ++bit) {
            const bool differs = ((static_cast<unsigned char>(c) >> bit ^ remainder) & 1u) != 0;
            remainder = remainder >> 1 ^ (differs ? 0x82f63b78u : 0);
        }
    return remainder ^ 0xffffffffu;
}

/// Cuts words off the beginning of bytes. Throws std::runtime_error if they end too early.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    bool at_end() const { return rest_.empty(); }
    std::string_view take(std::uint64_t count) {
        if (count > rest_.size()) throw std::runtime_error("the bytes end too early");
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    template <class Word>
    Word word() {  // tests run on little-endian hosts
        Word value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            const auto byte = static_cast<unsigned char>(take(1)[0]);
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
        throw std::runtime_error("a varint has more than ten bytes");
    }

private:
    std::string_view rest_;
};

/// Data of a file's records. Throws std::runtime_error if a length or a CRC is wrong.
inline std::vector<std::string> records_of(std::string_view file) {
    const auto unmasked = [](std::uint32_t masked) {
        const std::uint32_t rotated = masked - 0xa282ead8u;
        return rotated >> 17 | rotated << 15;
    };
    std::vector<std::string> records;
    for (ByteReader reader(file); !reader.at_end();) {
        const std::string_view header = reader.take(8);
        if (unmasked(reader.word<std::uint32_t>()) != divided_crc32c(header))
            throw std::runtime_error("a length has another CRC");
        const std::string_view data = reader.take(ByteReader(header).word<std::uint64_t>());
        if (unmasked(reader.word<std::uint32_t>()) != divided_crc32c(data))
            throw std::runtime_error("a record has another CRC");
        records.emplace_back(data);
    }
    return records;
}

/// A message's fields in their order.
class WireMessage {
public:
    explicit WireMessage(std::string_view wire) {
        for (ByteReader reader(wire); !reader.at_end();) {
            const std::uint64_t key = reader.varint();
            Field& field = fields_.emplace_back();
            field.number = key >> 3;
            field.type = static_cast<int>(key & 7);
            if (field.type == 0)
                field.word = reader.varint();
            else if (field.type == 1)
                field.word = reader.word<std::uint64_t>();
            else if (field.type == 2)
                field.bytes = reader.take(reader.varint());
            else if (field.type == 5)
                field.word = reader.word<std::uint32_t>();
            else
                throw std::runtime_error("a field of an unknown type");
        }
    }

    bool has(std::uint64_t number) const {
        for (const Field& field : fields_)
            if (field.number == number) return true;
        return false;
    }
    /// Values of the only field of this number. Throw std::runtime_error if there is another number of them, or of
    /// another type.
    std::int64_t varint(std::uint64_t number) const { return static_cast<std::int64_t>(only(number, 0).word); }
    double real(std::uint64_t number) const { return word_as<double>(only(number, 1).word); }
    float real32(std::uint64_t number) const {
        return word_as<float>(static_cast<std::uint32_t>(only(number, 5).word));
    }
    std::string bytes(std::uint64_t number) const { return only(number, 2).bytes; }
    WireMessage message(std::uint64_t number) const { return WireMessage(only(number, 2).bytes); }
    /// All messages of a repeated field.
    std::vector<WireMessage> messages(std::uint64_t number) const {
        std::vector<WireMessage> found;
        for (const Field& field : fields_)
            if (field.number == number && field.type == 2) found.emplace_back(field.bytes);
        return found;
    }

private:
    struct Field {
        std::uint64_t number = 0;
        int type = 0;
        std::uint64_t word = 0;
        std::string bytes;
    };

    template <class Value, class Word>
    static Value word_as(Word word) {
        static_assert(sizeof(Value) == sizeof(Word));
        Value value;
        std::memcpy(&value, &word, sizeof value);
        return value;
    }
    const Field& only(std::uint64_t number, int type) const {
        const Field* found = nullptr;
        for (const Field& field : fields_) {
            if (field.number != number) continue;
            if (found) throw std::runtime_error("a field is there twice");
            found = &field;
        }
        if (!found || found->type != type) throw std::runtime_error("a field is missing or of another type");
        return *found;
    }

    std::vector<Field> fields_;
};

}  // namespace vkf::test
