// Tests reports as result files of the Phoronix Test Suite: elements in the order of its schema, lengths, escapes.

#include <gtest/gtest.h>

#include "apps/bench/export/sample_report.h"
#include "scratch.h"

namespace vkf::test {

namespace {

/// Contents of every element of this name, as they are in the document.
std::vector<std::string> elements(const std::string& document, const std::string& name) {
    std::vector<std::string> made;
    const std::string begin = "<" + name + ">", end = "</" + name + ">";
    for (std::size_t at = document.find(begin); at != std::string::npos; at = document.find(begin, at)) {
        at += begin.size();
        made.push_back(document.substr(at, document.find(end, at) - at));
    }
    return made;
}

TEST(HostExportPhoronix, HasAResultForEachMeasurement) {
    const Exported exported = export_phoronix(input_of({sample_report()}));
    EXPECT_EQ(exported.measurements, 6u);
    const std::vector<std::string> results = elements(exported.text, "Result");
    ASSERT_EQ(results.size(), 6u);
    EXPECT_EQ(results[0],
              "\n<Identifier>local/vkformer-1.0.0</Identifier>\n<Title>vkformer</Title>\n"
              "<AppVersion>0.1.0+12.g1a2b3c4</AppVersion>\n"
              "<Arguments>Test: matmul - Case: square - Size: 1x1x1 - Layout: NN - Precision: bf16</Arguments>\n"
              "<Description>Test: matmul - Case: square - Size: 1x1x1 - Layout: NN - Precision: bf16</Description>\n"
              "<Scale>Milliseconds</Scale>\n<Proportion>LIB</Proportion>\n<DisplayFormat>BAR_GRAPH</DisplayFormat>\n"
              "<Data>\n<Entry>\n<Identifier>GPU 1</Identifier>\n<Value>2000</Value>\n<RawString></RawString>\n"
              "<JSON>{&quot;min-result&quot;:1000.0,&quot;max-result&quot;:4000.0}</JSON>\n</Entry>\n</Data>\n");
    EXPECT_EQ(elements(results[1], "Description"),
              std::vector<std::string>{"Test: step - Case: SmolLM2 135M - Size: 1x128 tokens - Attention: standard - "
                                       "Precision: fp32"});
    EXPECT_EQ(elements(results[1], "Scale"), std::vector<std::string>{"Tokens Per Second"});
    EXPECT_EQ(elements(results[1], "Proportion"), std::vector<std::string>{"HIB"});
    EXPECT_EQ(elements(results[1], "Value"), std::vector<std::string>{"64"});
    EXPECT_EQ(elements(results[1], "JSON"),
              std::vector<std::string>{"{&quot;min-result&quot;:32.0,&quot;max-result&quot;:128.0}"});
    EXPECT_EQ(elements(exported.text, "TimeStamp"), std::vector<std::string>{"2026-01-31 12:30:00"});
    EXPECT_EQ(elements(exported.text, "Hardware"),
              std::vector<std::string>{"Processor: CPU 3, Memory: 32.0 GiB, Graphics: GPU 1"});
    EXPECT_EQ(elements(exported.text, "Software"),
              std::vector<std::string>{"OS: Debian GNU/Linux 13, Kernel: 6.12, Vulkan: driver 2"});
}

TEST(HostExportPhoronix, PutsSystemsTogetherThatMeasuredTheSame) {
    BenchReport other = sample_report();
    other.head.driver = "driver 3";
    other.head.version = "0.2.0";
    other.measurements.erase(other.measurements.begin());
    other.measurements.push_back(other.measurements.front());  // once is enough
    const Exported exported = export_phoronix(input_of({sample_report(), other, other}));
    EXPECT_EQ(exported.measurements, 16u);
    const std::vector<std::string> systems = elements(exported.text, "System"),
                                   results = elements(exported.text, "Result");
    ASSERT_EQ(systems.size(), 3u);
    EXPECT_EQ(elements(systems[1], "Identifier"), std::vector<std::string>{"GPU 1, driver 3"});
    ASSERT_EQ(results.size(), 6u);
    EXPECT_EQ(elements(results[0], "Entry").size(), 1u);
    EXPECT_EQ(elements(results[1], "Identifier"),
              (std::vector<std::string>{"local/vkformer-1.0.0", "GPU 1", "GPU 1, driver 3", "GPU 1 #2"}));
    EXPECT_EQ(elements(results[1], "AppVersion"), std::vector<std::string>{""});
}

TEST(HostExportPhoronix, KeepsTextsInTheirElements) {
    BenchReport report = sample_report();
    std::string longer = hostile;
    for (int i = 0; i < 200; ++i) longer += "\xc3\xa9";
    report.head.device = longer;
    report.measurements.resize(1);
    report.measurements[0].name = hostile;
    report.measurements[0].seconds.least = 0;  // a rate without bounds has none
    report.measurements[0].item = "token";
    report.measurements[0].items = 4;
    BenchReport nameless = report;
    nameless.head.device = "";
    const std::string document = export_phoronix(input_of({report, nameless})).text;
    for (const char c : document) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    std::size_t open = 0;
    for (std::size_t i = 0; i < document.size(); ++i) open += document[i] == '<' && document[i + 1] != '/';
    EXPECT_EQ(open, 2u + 5 + 2 * 8 + 10 + 2 * 4);  // root, head, two systems, a result, its two entries
    const std::string unknown = "\xef\xbf\xbd";
    const std::string escaped =
        "=1+&quot;a&quot;, &lt;b&gt;&amp;'" + unknown + "[31m" + unknown + " " + unknown + unknown + "c";
    EXPECT_NE(elements(document, "Description").back().find("Case: " + escaped + " - Size"), std::string::npos);
    const std::string system = elements(elements(document, "System")[0], "Identifier").at(0);
    EXPECT_TRUE(system.starts_with(escaped + "\xc3\xa9"));
    std::size_t characters = 0;
    for (const char c : system) characters += (c & 0xc0) != 0x80;
    EXPECT_EQ(characters, 128u + 4 * 1 + 5 * 2 + 3 * 2);  // escapes are longer: &amp;, &quot; twice, &lt; and &gt;
    EXPECT_EQ(elements(elements(document, "System")[1], "Identifier").at(0), "unknown");
    EXPECT_TRUE(elements(document, "JSON").empty());
}

TEST(HostExportPhoronix, WantsAMoment) {
    BenchReport report = sample_report();
    report.head.date = "today";
    expect_holds(complaint([&] { export_phoronix(input_of({report})); }),
                 "a.json: its date is 'today', wanted 2026-01-31T12:00:00Z");
}

}  // namespace

}  // namespace vkf::test
