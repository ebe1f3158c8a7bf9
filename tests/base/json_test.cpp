#include "base/text/json.h"

#include <string>
#include <vector>

#include "base/text/json_builder.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

TEST(HostJson, ReadsWhatIsRight) {
    const nlohmann::json tree = parse_json(R"({"a": [1, {"a": "b"}, {"a": null}], "c": 1.5})", "x.json");
    EXPECT_EQ(tree["a"][1]["a"], "b");  // inner objects may repeat keys of outer objects and of neighbours
    EXPECT_EQ(tree["c"], 1.5);
    EXPECT_EQ(parse_json(nested(JSON_DEPTH), "x.json").dump(), nested(JSON_DEPTH));
}

TEST(HostJson, RefusesWhatIsNotNamingThePlace) {
    struct Case {
        const char* reason;
        std::string words;
    };
    const Case cases[] = {
        {"x.json is not JSON (byte 1 of 0)", ""},
        {"x.json is not JSON (byte 9 of 9)", "{\"a\": 1,}"},
        {"x.json is not JSON (byte 4 of 4)", "{} x"},
        {"x.json is not JSON (byte 2 is zero)", std::string("{}\0", 3)},
        {"x.json is not JSON (byte ", "[\"\xff\"]"},
        {"x.json is not JSON (a number is out of range)", "[1e999]"},
        {"x.json nests deeper than 32 levels", nested(JSON_DEPTH + 1)},
        {"x.json nests deeper than 32 levels", nested(200'000)},
        {"x.json nests deeper than 32 levels", std::string(200'000, '[')},
        {"x.json has \"a\" twice", R"({"a": 1, "b": {"a": 2}, "a": 3})"},
        {"x.json has \"k\" twice", R"([{"k": 1}, {"k": 1, "k": 1}])"},
    };
    for (const Case& bad : cases) expect_holds(complaint([&] { parse_json(bad.words, "x.json"); }), bad.reason);
}

TEST(HostJson, MembersAreHandedOverOneByOne) {
    const std::string subject = "x.json";
    std::vector<std::string> seen;
    const auto take = [&](const std::string& key, const nlohmann::json& value) { seen.push_back(key + value.dump()); };
    JsonBuilder builder(subject, 3, 4, take);
    builder.parse(R"({"a": 1, "b": {"c": [1, 2]}, "d": [], "a": "twice", "e": null})");
    EXPECT_EQ(seen, (std::vector<std::string>{"a1", R"(b{"c":[1,2]})", "d[]", "a\"twice\"", "enull"}));
    expect_holds(complaint([&] { JsonBuilder(subject, 3, 4, take).parse(R"({"long": [1, 2, 3, 4]})"); }),
                 "x.json: \"long\" has more than 4 values");
    expect_holds(complaint([&] { JsonBuilder(subject, 3, 4, take).parse(R"({"a": {"b": 1, "b": 2}})"); }),
                 "x.json has \"b\" twice");
    expect_holds(complaint([&] { JsonBuilder(subject, 3, 4, take).parse(R"({"a": [[[1]]]})"); }),
                 "x.json nests deeper than 3 levels");
}

TEST(HostJson, ShowsAnyValueInOneShortLine) {
    EXPECT_EQ(one_line({{"a", {1, 2}}}), R"({"a":[1,2]})");
    EXPECT_EQ(one_line("line\nend \xff"), R"("line\nend \ufffd")");
    EXPECT_LE(one_line(std::string(100'000, 'a')).size(), 130u);
}

}  // namespace
}  // namespace vkf
