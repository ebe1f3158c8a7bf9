// Options in TOML: files that are read, files that are refused and the place named, and reading of written files.

#include "apps/cli/config_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "scratch.h"

namespace vkf {
namespace {

class HostConfigFile : public testing::Test {
protected:
    std::vector<ConfigEntry> read(std::string_view words) const {
        return read_config(scratch_.file("options.toml", words));
    }
    /// Error message about a file, without its name.
    std::string complaint(std::string_view words) const {
        const std::string message = test::complaint([&] { read(words); });
        const std::string start = name() + ":";
        EXPECT_TRUE(message.starts_with(start)) << message;
        return message.substr(std::min(start.size(), message.size()));
    }
    std::string name() const { return (scratch_.path() / "options.toml").string(); }

private:
    test::Scratch scratch_;
};

TEST_F(HostConfigFile, ReadsValuesInTheirOrder) {
    const auto entries =
        read("\xEF\xBB\xBF# a comment\nn-layer = 4\nattention = \"belief\"  # why\n\nbias = true\nlr = 6e-4\n");
    ASSERT_EQ(entries.size(), 4u);
    EXPECT_EQ(entries[0].key, "n-layer");
    EXPECT_EQ(entries[0].value, ConfigValue(std::int64_t{4}));
    EXPECT_EQ(entries[0].where, name() + ":2: n-layer");
    EXPECT_EQ(entries[1].value, ConfigValue(std::string("belief")));
    EXPECT_EQ(entries[2].value, ConfigValue(true));
    EXPECT_EQ(entries[3].value, ConfigValue(6e-4));
}

TEST_F(HostConfigFile, WhatIsWrittenIsReadAgain) {
    const ConfigValue values[] = {std::vector<std::string>{"a=/b \"c\", d", "e=/f"},
                                  std::string("a # b.txt"),
                                  std::string("quote \" apostrophe ' backslash \\ end"),
                                  std::string("two\nlines\tand a tab\r\x01\x7f"),
                                  std::string("x\"\nn-layer = 9\ny = \"'''\"\"\""),
                                  std::string("grüße/数据/😀"),
                                  std::string("grüße\nund \"mehr\""),
                                  std::string(""),
                                  true,
                                  false,
                                  std::int64_t{-7},
                                  std::numeric_limits<std::int64_t>::max(),
                                  0.1,
                                  1.0,
                                  6e-4,
                                  1.0 / 3,
                                  1e-18,
                                  1e38,
                                  5e-324};
    std::string file;
    int n = 0;
    for (const ConfigValue& value : values) file += toml_line("key-" + std::to_string(n++), value);
    const auto entries = read(file);
    ASSERT_EQ(entries.size(), std::size(values));
    for (std::size_t i = 0; i < entries.size(); ++i)
        EXPECT_EQ(entries[i].value, values[i]) << toml_line("it", values[i]);
}

TEST_F(HostConfigFile, ComplaintsNameLineAndKey) {
    EXPECT_EQ(complaint("n-layer = 4\nattention = belief\n"),
              "2: attention: found belief, wanted a number, true, false, or text in quotes: \"belief\"");
    EXPECT_EQ(complaint("n-layer =\n"), "1: n-layer: there is no value after '='");
    EXPECT_EQ(complaint("\n; x\n"), "2: found '; x', wanted KEY = VALUE");
    EXPECT_EQ(complaint("a = 1\n[model]\nb = 2\n"),
              "2: model: found a table, wanted one value: text in quotes, a number, true or false");
    EXPECT_TRUE(complaint("a = [1, 2]\n").starts_with("1: a: found a list"));
    EXPECT_TRUE(complaint("a = [\"b\", 2]\n").starts_with("1: a: found a list"));
    EXPECT_EQ(complaint("[)"), " not TOML: unexpected characters");
    EXPECT_TRUE(complaint("a = 2026-01-01\n").starts_with("1: a: found a date"));
    const std::string beyond = "2: a character beyond ASCII, wanted it in a text in quotes";
    for (const char* words : {"\u01d4.", "\u01d4 = 1", R"(a = "b" ǔ)", "a = ''\u01d4", R"(a = "\""ǔ)",
                              R"(a = """b"""""ǔ)", "a = '''\u01d4'''", R"(a = ["b", ǔ])", R"(a = """\"""ǔ""")",
                              // No text begins inside of a word.
                              R"(a = 1e"ǔ")", R"(a = 1."ǔ")", R"(a = 1="ǔ")", R"(a = 1["ǔ"])", R"(a = [0, +1'ǔ'])",
                              R"(a = 1979-05-27 1"ǔ")", R"(a = true"ǔ")", R"(a = "b""ǔ")"})
        EXPECT_EQ(complaint(std::string("b = '\u00fc' # \u00fc\n") + words), beyond) << words;
    EXPECT_EQ(complaint("a = '\n\u01d4'"), beyond);
    EXPECT_EQ(complaint("a = [\n1=\"\u01d4\"]"), beyond);
    for (const char* words :
         {"a = ['\u01d4', \"\u01d4\",\n '\u01d4'\n]\n", "a = '\u01d4' # it's \u01d4\nb=\"\u01d4\"\n"})
        EXPECT_NO_THROW(read(words)) << words;
    EXPECT_TRUE(complaint("a = 1\na = 2\n").starts_with("2: a: not TOML"));
    EXPECT_TRUE(complaint("a = 99999999999999999999\n").starts_with("1: a: not TOML"));
    EXPECT_TRUE(complaint("a = \"open\n").starts_with("1: a: not TOML"));
    EXPECT_NE(complaint("a = \"\xff\"\n"), "");
}

TEST_F(HostConfigFile, ArgumentsAndEquality) {
    EXPECT_EQ(argument(4.0), "4.0");  // written so that it is not an integer
    EXPECT_EQ(argument(6e-4), "6e-04");
    EXPECT_EQ(argument(true), "true");
    EXPECT_TRUE(same_value(std::int64_t{1}, 1.0));
    EXPECT_FALSE(same_value(std::int64_t{1}, 2.0));
    EXPECT_FALSE(same_value(std::string("1"), std::int64_t{1}));
}

}  // namespace
}  // namespace vkf
