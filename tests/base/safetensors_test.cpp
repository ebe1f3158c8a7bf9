#include "base/files/safetensors.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/half.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

template <class Value>
std::string bytes_of_value(Value value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Builds a file from its header, with the header's length, and its data.
std::string file_of(const std::string& header, const std::string& data) {
    return bytes_of_value<std::uint64_t>(header.size()) + header + data;
}

std::string header_for(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "{\"w\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
}

TEST(HostSafetensors, WhatIsWrittenIsRead) {
    const Scratch scratch;
    const fs::path path = scratch.path() / "model.safetensors";
    std::vector<float> values(70000);  // more than one chunk of conversion
    std::iota(values.begin(), values.end(), -3.5f);
    const std::vector<std::int64_t> tokens = {0, -1, 1LL << 40};
    const std::vector<std::int64_t> shape = {7, 100, 100};
    const TensorSource list[] = {float_source("f32", shape, values),
                                 int_source("tokens", {1, 3}, tokens),
                                 float_source("f16", shape, values, StoredType::F16),
                                 float_source("bf16", shape, values, StoredType::BF16),
                                 float_source("f64", shape, values, StoredType::F64),
                                 float_source("nothing", {0, 5}, {}),
                                 float_source("a \"scalar\"\n", {}, std::span(values).first(1))};
    write_safetensors(path, list, {{"epoch", "3"}});

    const Safetensors file = Safetensors::open(path);
    ASSERT_EQ(file.tensors().size(), 7u);
    EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"epoch", "3"}, {"format", "pt"}}));
    EXPECT_EQ(file.at("f32").shape, shape);
    EXPECT_EQ(file.read_f32("f32"), values);
    EXPECT_EQ(file.read_f32("f64"), values);
    EXPECT_EQ(file.read_i64("tokens"), tokens);
    EXPECT_EQ(file.at("nothing").count(), 0u);
    EXPECT_TRUE(file.read_f32("nothing").empty());
    EXPECT_EQ(file.read_f32("a \"scalar\"\n"), std::vector<float>{-3.5f});
    EXPECT_TRUE(file.at("a \"scalar\"\n").shape.empty());
    const auto half = file.read_f32("f16"), brain = file.read_f32("bf16");
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(half[i], from_half(to_half(values[i])));
        EXPECT_EQ(brain[i], from_bfloat16(to_bfloat16(values[i])));
    }
}

TEST(HostSafetensors, TheHeaderIsPaddedSoThatDataIsAligned) {
    const Scratch scratch;
    const fs::path path = scratch.path() / "x";
    for (const std::string name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"}) {
        const float value = 1;
        const TensorSource list[] = {float_source(name, {1}, {&value, 1})};
        write_safetensors(path, list);
        const MappedFile raw(path);
        EXPECT_EQ((raw.bytes().size() - 4) % 8, 0u);
        EXPECT_EQ(Safetensors::open(path).read_f32(name), std::vector<float>{1});
    }
}

TEST(HostSafetensors, EveryTypeIsKnownByItsName) {
    const Scratch scratch;
    for (const std::string name :
         {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"}) {
        const bool eight = name.ends_with("64"), four = name.ends_with("32"), two = name.ends_with("16");
        const std::size_t bytes = eight ? 8 : four ? 4 : two ? 2 : 1;
        const auto header = header_for('"' + name + '"', "[1]", "[0," + std::to_string(bytes) + "]");
        const auto path = scratch.file("x", file_of(header, std::string(bytes, '\0')));
        const Safetensors file = Safetensors::open(path);
        EXPECT_EQ(name_of(file.at("w").type), name);
        EXPECT_EQ(bytes_of(file.at("w").type), bytes);
        const bool floats = name.find('F') != std::string::npos;
        EXPECT_EQ(complaint([&] { file.read_f32("w"); }).empty(), floats) << name;
        EXPECT_EQ(complaint([&] { file.read_i64("w"); }).empty(), name == "I64" || name == "I32");
    }
}

TEST(HostSafetensors, DataMayLieAtOddBytesInAnyOrder) {
    const Scratch scratch;
    const std::string header =
        "{\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]},"
        "\"c\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[5,9]},"
        "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"__metadata__\":{}} \n";
    const auto data = "x" + bytes_of_value(2.5f) + bytes_of_value(std::int32_t{-7});
    const Safetensors file = Safetensors::open(scratch.file("x", file_of(header, data)));
    EXPECT_EQ(file.tensors()[0].name, "a");
    EXPECT_EQ(file.read_f32("b"), std::vector<float>{2.5f});
    EXPECT_EQ(file.read_i64("c"), std::vector<std::int64_t>{-7});
    EXPECT_TRUE(Safetensors::open(scratch.file("y", file_of("{}", ""))).tensors().empty());
}

TEST(HostSafetensors, MalformedFilesAreRefusedInOneLine) {
    struct Case {
        const char* reason;
        std::string bytes;
    };
    const std::string f32 = "\"F32\"", four = "abcd";
    const auto one = [&](const std::string& dtype, const std::string& shape, const std::string& offsets,
                         const std::string& data) { return file_of(header_for(dtype, shape, offsets), data); };
    const auto entry = [](const std::string& name, const std::string& offsets) {
        return '"' + name + "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":" + offsets + '}';
    };
    const std::string huge = "9223372036854775807";
    const Case cases[] = {
        {"too few", ""},
        {"too few", "1234567"},
        {"but only 0", bytes_of_value<std::uint64_t>(2)},
        {"but only 2", bytes_of_value<std::uint64_t>(3) + "{}"},
        {"at most", bytes_of_value<std::uint64_t>(100'000'001) + "{}"},
        {"at most", bytes_of_value<std::uint64_t>(~0ull) + "{}"},
        {"at most", std::string(64, '{')},
        {"start", file_of("", "")},
        {"start", file_of(" {}", "")},
        {"start", file_of("[]", "")},
        {"not JSON", file_of("{", "")},
        {"not JSON", file_of("{}x", "")},
        {"not JSON", file_of(std::string("{}\0", 3), "")},
        {"not JSON", file_of("{\"\xff\":1}", "")},
        {"not JSON", file_of("{\"__metadata__\":{\"a\":1e999}}", "")},
        {"nests", file_of("{\"a\":" + std::string(100000, '['), "")},
        {"nests", file_of(header_for(f32, "[[1]]", "[0,4]"), four)},
        {"\"w\": described", file_of("{\"w\":[]}", "")},
        {"\"w\": has no dtype", file_of("{\"w\":{}}", "")},
        {"\"w\": has no data_offsets", file_of("{\"w\":{\"dtype\":\"F32\",\"shape\":[]}}", "")},
        {"\"w\": dtype \"F99\"", one("\"F99\"", "[1]", "[0,4]", four)},
        {"\"w\": dtype 32", one("32", "[1]", "[0,4]", four)},
        {"\"w\": shape is 1, wanted a list", one(f32, "1", "[0,4]", four)},
        {"\"w\": shape [-1]", one(f32, "[-1]", "[0,4]", four)},
        {"\"w\": shape [1.0]", one(f32, "[1.0]", "[0,4]", four)},
        {"\"w\": shape [\"1\"]", one(f32, "[\"1\"]", "[0,4]", four)},
        {"wanted whole", one(f32, "[9223372036854775808]", "[0,4]", four)},
        {"overflows", one(f32, "[" + huge + "]", "[0,4]", four)},
        {"overflows", one(f32, "[4294967296,4294967296]", "[0,4]", four)},
        {"overflows", one(f32, "[4611686018427387905]", "[0,4]", four)},  // 4 bytes modulo 2^64
        {"\"w\": data_offsets is [0]", one(f32, "[1]", "[0]", four)},
        {"\"w\": data_offsets is [-4,0]", one(f32, "[1]", "[-4,0]", four)},
        {"\"w\": data_offsets is [0,4.0]", one(f32, "[1]", "[0,4.0]", four)},
        {"\"w\": data_offsets [0,8] leave the 4", one(f32, "[2]", "[0,8]", four)},
        {"\"w\": data_offsets [4,0] leave", one(f32, "[1]", "[4,0]", four)},
        {"data_offsets is [18", one(f32, "[1]", "[18446744073709551612,0]", four)},
        {"hold 4 bytes, F32 [2] needs 8", one(f32, "[2]", "[0,4]", four)},
        {"hold 4 bytes, F32 [0] needs 0", one(f32, "[0]", "[0,4]", four)},
        {"cover 4 of 5", one(f32, "[1]", "[0,4]", four + "e")},
        {"cover 0 of 1", file_of("{}", "x")},
        {"\"w\": data begins at 4, wanted 0 (hole)", one(f32, "[1]", "[4,8]", four + four)},
        {"(overlap)", file_of("{" + entry("a", "[0,4]") + "," + entry("b", "[2,6]") + "}", "abcdef")},
        {"(overlap)", file_of("{" + entry("a", "[0,4]") + "," + entry("b", "[0,4]") + "}", four)},
        {"(hole)", file_of("{" + entry("a", "[0,4]") + "," + entry("b", "[5,9]") + "}", "abcdefghi")},
        {"\"a\" twice", file_of("{" + entry("a", "[0,4]") + "," + entry("a", "[4,8]") + "}", four + four)},
        {"\"dtype\" twice", file_of("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", "")},
        {"__metadata__ is [1]", file_of("{\"__metadata__\":[1]}", "")},
        {"__metadata__ \"a\" is 1", file_of("{\"__metadata__\":{\"a\":1}}", "")},
        {"\"two\\nlines\": described", file_of("{\"two\\nlines\":1}", "")},
    };
    const Scratch scratch;
    for (const Case& bad : cases) {
        const fs::path path = scratch.file("bad.safetensors", bad.bytes);
        const auto message = complaint([&] { Safetensors::open(path); });
        expect_holds(message, path.string());
        expect_holds(message, bad.reason);
        EXPECT_LT(message.size(), 600u);
    }
}

TEST(HostSafetensors, EveryTruncationAndEveryFlippedByteIsRefusedOrHarmless) {
    const Scratch scratch;
    const float values[] = {1, 2, 3};
    const TensorSource list[] = {float_source("a", {3}, values), float_source("b", {1, 2}, {values, 2})};
    write_safetensors(scratch.path() / "good", list);
    const std::string good = read_text(scratch.path() / "good");
    for (std::size_t length = 0; length < good.size(); ++length) {
        const fs::path path = scratch.file("cut", good.substr(0, length));
        EXPECT_FALSE(complaint([&] { Safetensors::open(path); }).empty()) << length;
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (const int flip : {0x01, 0x10, 0x80}) {
            std::string bytes = good;
            bytes[at] = static_cast<char>(bytes[at] ^ flip);
            const fs::path path = scratch.file("flipped", bytes);
            complaint([&] {
                const Safetensors file = Safetensors::open(path);
                for (const auto& tensor : file.tensors()) {
                    if (tensor.type == StoredType::F32) file.read_f32(tensor.name);
                }
            });
        }
    }
}

TEST(HostSafetensors, AskingForWhatIsNotThereIsRefused) {
    const Scratch scratch;
    const float value = 1;
    const TensorSource list[] = {float_source("a", {1}, {&value, 1})};
    write_safetensors(scratch.path() / "x", list);
    const Safetensors file = Safetensors::open(scratch.path() / "x");
    EXPECT_TRUE(file.contains("a"));
    EXPECT_FALSE(file.contains("b"));
    expect_holds(complaint([&] { file.at("b"); }), "has no tensor \"b\"");
    expect_holds(complaint([&] { file.read_i64("a"); }), "dtype is F32, wanted I64");
    std::vector<float> two(2);
    expect_holds(complaint([&] { file.read_f32("a", two); }), "has 1 values, wanted 2");
}

TEST(HostSafetensors, TheWriterRefusesWhatNobodyCouldRead) {
    const Scratch scratch;
    const fs::path path = scratch.file("x", "old");
    const float value = 1;
    const auto attempt = [&](const std::vector<TensorSource>& list) {
        const auto message = complaint<Error>([&] { write_safetensors(path, list); });
        EXPECT_EQ(read_text(path), "old");
        return message;
    };
    const std::span<const float> one(&value, 1);
    expect_holds(attempt({float_source("a", {1}, one), float_source("a", {1}, one)}), "'a': is given twice");
    expect_holds(attempt({float_source("a", {2}, one)}), "4 bytes were produced, its shape needs 8");
    expect_holds(attempt({float_source("a", {}, {})}), "0 bytes were produced, its shape needs 4");
    expect_holds(attempt({float_source("a", {-1}, one)}), "negative extent");
    expect_holds(attempt({float_source("a", {1LL << 62, 4}, one)}), "overflows");
    expect_holds(attempt({float_source("__metadata__", {1}, one)}), "reserved");
    expect_holds(attempt({float_source("\xff", {1}, one)}), "not UTF-8");
    expect_holds(attempt({float_source("a", {1}, one, StoredType::I32)}), "cannot be stored as I32");
}

}  // namespace
}  // namespace vkf
