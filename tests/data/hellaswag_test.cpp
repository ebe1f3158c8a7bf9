#include "models/data/text/hellaswag.h"

#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

TEST(HostHellaswag, BothLayoutsAreRead) {
    const Scratch scratch;
    const fs::path lines = scratch.file("a.txt", "A man: he\r\n3\na\nb\nc\nd\nNext\n0\n1\n2\n3\n4\n");
    const fs::path objects = scratch.file("a.jsonl",
                                          "{\"ctx\":\"A man: he\",\"label\":3,\"ind\":1,\"endings\":"
                                          "[\"a\",\"b\",\"c\",\"d\"]}\n\n{\"ctx\":\"Next\",\"label\":0,"
                                          "\"endings\":[\"1\",\"2\",\"3\",\"4\"]}\n");
    for (const fs::path& path : {lines, objects}) {
        const std::vector<HellaswagTask> tasks = read_hellaswag(path);
        ASSERT_EQ(tasks.size(), 2u);
        EXPECT_EQ(tasks[0].context, "A man: he");
        EXPECT_EQ(tasks[0].label, 3u);
        EXPECT_EQ(tasks[1].endings, (std::array<std::string, 4>{"1", "2", "3", "4"}));
    }
}

TEST(HostHellaswag, OtherFilesAreRefused) {
    const Scratch scratch;
    const std::pair<const char*, const char*> cases[] = {
        {"", "has no tasks"},
        {"A\n3\na\nb\nc\n", "line 6: is missing, wanted an ending"},
        {"A\n3\na\n\nc\nd\n", "line 4: is empty, wanted an ending"},
        {"A\nB\na\nb\nc\nd\n", "line 2: found \"B\", wanted a label"},
        {"A\n-1\na\nb\nc\nd\n", "line 2: found \"-1\", wanted a label"},
        {"A\n0\na\nb\nc\nd\n\n", "line 7: is empty, wanted a context"},
        {"A\xff", "is not UTF-8 at byte 1"},
    };
    for (const auto& [content, reason] : cases)
        expect_holds(complaint([&] { read_hellaswag(scratch.file("a.txt", content)); }), reason);
    const std::pair<const char*, const char*> objects[] = {
        {"\n", "has no tasks"},
        {"\n{\"ctx\":", "line 2 is not JSON"},
        {"7", "line 1: has no key \"ctx\""},
        {R"({"ctx":7})", R"("ctx" is 7, wanted a string)"},
        {R"({"ctx":"","endings":["a","b","c"],"label":0})", R"("endings" is ["a","b","c"], wanted four strings)"},
        {R"({"ctx":"","endings":["a","b","c",0],"label":0})", "wanted four strings"},
        {R"({"ctx":"","endings":["a","b","c","d"],"label":4})", R"("label" is 4, wanted 0 to 3)"},
        {R"({"ctx":"","endings":["a","b","c","d"],"label":-1})", R"("label" is -1, wanted 0 to 3)"},
        {R"({"ctx":"","endings":["a","b","c","d"]})", R"(has no key "label")"},
    };
    for (const auto& [content, reason] : objects)
        expect_holds(complaint([&] { read_hellaswag(scratch.file("a.jsonl", content)); }), reason);
}

TEST(HostHellaswag, LabelsMayBeStrings) {
    const Scratch scratch;
    const auto label = [&](const std::string& written) {
        const std::string task = R"({"ctx":"","endings":["a","b","c","d"],"label":)" + written + "}";
        return read_hellaswag(scratch.file("a.jsonl", task)).front().label;
    };
    EXPECT_EQ(label("2"), 2u);
    EXPECT_EQ(label("\"2\""), 2u);
    expect_holds(complaint([&] { label("\"\""); }), "\"label\" is \"\", wanted 0 to 3");
    expect_holds(complaint([&] { label("\"4\""); }), "\"label\" is \"4\", wanted 0 to 3");
}

}  // namespace
}  // namespace vkf
