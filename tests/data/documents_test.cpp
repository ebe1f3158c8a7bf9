#include "models/data/text/documents.h"

#include <limits>

#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

constexpr std::uint64_t ALL = std::numeric_limits<std::uint64_t>::max();

Documents documents_of(const std::vector<fs::path>& inputs) {
    return Documents(text_files(inputs), "text");
}

std::string rest(Documents& documents, std::uint64_t limit = ALL) {
    std::string text;
    for (std::string_view part; !(part = documents.read(limit)).empty();) text += part;
    return text;
}

std::vector<std::string> texts_of(const std::vector<fs::path>& inputs) {
    Documents documents = documents_of(inputs);
    std::vector<std::string> texts;
    while (documents.next()) texts.push_back(rest(documents));
    return texts;
}

TEST(HostDocuments, DirectoriesAreReadInTheOrderOfTheirPaths) {
    const Scratch scratch;
    scratch.file("in/b.txt", "b");
    scratch.file("in/a/z.jsonl", "{\"text\": \"z1\"}\n\n{\"text\":\"\"}\n{\"id\": 7, \"text\": \"z\\u00e9\\r\\n\"}");
    scratch.file("in/a/.hidden.txt", "no");
    scratch.file("in/a/empty.txt", "");
    scratch.file("in/c.md", "no");
    const fs::path other = scratch.file("other", "o\r\no\ro");
    const std::vector<std::string> wanted{"o\no\no", "z1", "z\u00e9\r\n", "b"};
    EXPECT_EQ(texts_of({other, scratch.path() / "in"}), wanted);
}

TEST(HostDocuments, AListOfObjectsHasADocumentInEach) {
    const Scratch scratch;
    const fs::path list =
        scratch.file("a.json", " [{\"text\": \"a\\n\"}, {\"text\": \"\"},\n {\"id\": 1, \"text\": \"b\"}]");
    const fs::path lines = scratch.file("b.json", "{\"text\": \"c\"}\n{\"text\": \"d\"}\n");
    EXPECT_EQ(texts_of({list, lines, list}), (std::vector<std::string>{"a\n", "b", "c", "d", "a\n", "b"}));
    EXPECT_TRUE(texts_of({scratch.file("c.json", "[]")}).empty());
    const auto refused = [&](const char* content, const char* reason) {
        expect_holds(complaint([&] { texts_of({scratch.file("c.json", content)}); }), reason);
    };
    refused(R"([{"text": "a"}, {"body": "b"}])", "c.json: [1]: has no key \"text\"");
    refused(R"([{"text": "a"}, "b"])", "c.json: [1]: found \"b\", wanted an object");
    refused(R"([{"text": "a"})", "c.json is not JSON");
}

TEST(HostDocuments, PortionsCutNeitherCharactersNorLineEnds) {
    const Scratch scratch;
    for (std::size_t before = (1 << 16) - 4; before <= 1 << 16; ++before) {
        const std::string start(before, 'x');
        EXPECT_EQ(texts_of({scratch.file("a.txt", start + "\U0001f600y")}), std::vector{start + "\U0001f600y"});
        EXPECT_EQ(texts_of({scratch.file("a.txt", start + "\r\ny")}), std::vector{start + "\ny"});
    }
}

TEST(HostDocuments, ALimitIsMovedBehindTheCharacter) {
    const Scratch scratch;
    const fs::path plain = scratch.file("a.txt", "ab\u20ac\r\nc");
    const fs::path json = scratch.file("a.jsonl", "{\"text\":\"ab\u20ac\\r\\nc\"}");
    const auto portions = [&](const fs::path& path, std::uint64_t limit) {
        Documents documents = documents_of({path});
        EXPECT_TRUE(documents.next());
        EXPECT_EQ(documents.size(), 8u);
        const std::string first = rest(documents, limit);
        return std::pair(first, rest(documents));
    };
    using Portions = std::pair<std::string, std::string>;
    for (const fs::path& path : {plain, json}) EXPECT_EQ(portions(path, 2).first, "ab");
    for (const fs::path& path : {plain, json}) EXPECT_EQ(portions(path, 3).first, "ab\u20ac");
    EXPECT_EQ(portions(plain, 6), Portions("ab\u20ac\n", "c"));
    EXPECT_EQ(portions(json, 6), Portions("ab\u20ac\r", "\nc"));
    EXPECT_EQ(portions(plain, 0), Portions("", "ab\u20ac\nc"));
}

TEST(HostDocuments, WhatIsNoTextIsRefused) {
    const Scratch scratch;
    const auto refused = [&](const char* name, std::string_view content, std::string_view reason) {
        const fs::path path = scratch.file(name, content);
        const std::string message = complaint([&] { texts_of({path}); });
        expect_holds(message, path.string());
        expect_holds(message, reason);
    };
    const std::string start(100'000, 'x');
    refused("a.txt", "ab\xff", ": is not UTF-8 at byte 2");
    refused("a.txt", start + "\r\n\r\n\xc3", ": is not UTF-8 at byte 100004");
    refused("a.txt", start + "\xe2\x82\xe2\x82\xac", ": is not UTF-8 at byte 100000");
    refused("a.txt", "a\x80\x80\x80\x80\x80", ": is not UTF-8 at byte 1");
    refused("a.jsonl", "{\"text\":\"a\"}\n{\"text\":", ": line 2 is not JSON");
    refused("a.jsonl", "{\"text\":\"a\"}\n\n{\"text\":\"\xff\"}", ": line 3 is not JSON");
    refused("a.jsonl", "{\"body\":\"a\"}", ": line 1: has no key \"text\"");
    refused("a.jsonl", "{\"text\":7}", ": line 1: \"text\" is 7, wanted a string");
    refused("a.jsonl", "[\"text\"]", ": line 1: found [\"text\"], wanted an object");
    EXPECT_TRUE(texts_of({scratch.file("a.jsonl", "\n \r\n")}).empty());
    fs::create_directory(scratch.path() / "empty");
    expect_holds(complaint([&] { texts_of({scratch.path() / "empty"}); }), "empty: holds no .txt or .jsonl files");
    expect_holds(complaint([&] { texts_of({scratch.path() / "none"}); }), "none: does not exist");
}

}  // namespace
}  // namespace vkf
