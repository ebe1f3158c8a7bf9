// Reports as a result file of the Phoronix Test Suite.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "apps/bench/export/export_forms.h"
#include "base/text/json_text.h"
#include "base/text/plain_text.h"
#include "base/text/utc_time.h"
#include "base/text/utf8.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

/// The first characters of a text, as one line; "unknown" of an empty one.
std::string clipped(const std::string& text, std::size_t characters) {
    const std::string line = plain_line(text, std::string::npos);
    std::size_t end = 0;
    for (std::size_t i = 0; i < characters && end < line.size(); ++i) end += decode_utf8(line, end).bytes;
    return end == 0 ? "unknown" : line.substr(0, end);
}

std::string element(const char* name, const std::string& content) {
    return text('<', name, '>', xml_text(plain_line(content, std::string::npos)), "</", name, ">\n");
}

/// "2026-01-31 12:00:00", the form of the suite's schema.
std::string moment(const ReportFile& file) {
    const std::string& date = file.report.head.date;
    require(utc_seconds(date).has_value(), file.path, ": its date is '", date, "', wanted 2026-01-31T12:00:00Z");
    return date.substr(0, 10) + ' ' + date.substr(11, 8);
}

/// "Key: value, Key: value" of the values that are known. The suite splits such lists at their commas and colons.
std::string list(const std::vector<std::pair<std::string, std::string>>& parts) {
    std::string made;
    for (auto [key, value] : parts) {
        if (value.empty()) continue;
        std::ranges::replace_if(
            value, [](char c) { return c == ',' || c == ':'; }, ';');
        made += text(made.empty() ? "" : ", ", key, ": ", value);
    }
    return made;
}

/// Names of the reports' systems, each of which is different: the device, and if that is not enough its driver, a
/// number.
std::vector<std::string> systems(const ExportInput& input) {
    constexpr std::size_t longest = 128;
    std::vector<std::string> made;
    const auto taken = [&](const std::string& name) { return std::ranges::find(made, name) != made.end(); };
    for (const ReportFile& file : input.files) {
        const ReportHead& head = file.report.head;
        std::string name = clipped(head.device, longest);
        if (taken(name)) name = clipped(head.device + ", " + head.driver, longest);
        for (int number = 2; taken(name); ++number) name = clipped(head.device, longest - 8) + text(" #", number);
        made.push_back(name);
    }
    return made;
}

std::string system_element(const ReportFile& file, const std::string& name) {
    const ReportHead& head = file.report.head;
    const ReportHost host = file.report.host.value_or(ReportHost{});
    const std::string processor = host.processor.empty() && head.kind == "CPU" ? head.device : host.processor;
    const std::string memory = host.memory_bytes > 0 ? bytes_text(static_cast<double>(host.memory_bytes)) : "";
    return "<System>\n" + element("Identifier", name) +
           element("Hardware", list({{"Processor", processor},
                                     {"Memory", memory},
                                     {"Graphics", head.kind == "CPU" ? "" : head.device}})) +
           element("Software", list({{"OS", host.os}, {"Kernel", host.kernel}, {"Vulkan", head.driver}})) +
           element("User", "") + element("TimeStamp", moment(file)) +
           element("TestClientVersion", "vkformer " + head.version) + element("Notes", "") + "</System>\n";
}

/// Description by which the suite matches results, "Test: step - Case: GPT-2 124M - …".
std::string description(const BenchReport& report, const Measurement& m) {
    std::string made;
    for (const auto& [key, value] : {std::pair<const char*, std::string>{"Test", m.family},
                                     {"Case", m.name},
                                     {"Size", m.shape},
                                     {"Layout", m.layout},
                                     {"Attention", m.attention},
                                     {"Precision", precision_of(report, m)}})
        if (!value.empty()) made += text(made.empty() ? "" : " - ", key, ": ", value);
    return made;
}

/// "target token" → "Target Tokens Per Second"; of a kernel "Milliseconds".
std::string scale(const Measurement& m) {
    if (m.item.empty()) return "Milliseconds";
    std::string made = m.item + "s Per Second";
    bool first = true;
    for (char& c : made) {
        if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        first = c == ' ';
    }
    return made;
}

/// Value on the measurement's scale of a run that takes so many seconds.
double value(const Measurement& m, double seconds) {
    return m.item.empty() ? seconds * 1e3 : m.items / seconds;
}

std::string entry_element(const Measurement& m, const std::string& system) {
    std::string made = "<Entry>\n" + element("Identifier", system) +
                       element("Value", number_text(value(m, m.seconds.median))) + element("RawString", "");
    const auto [least, most] = std::minmax({value(m, m.seconds.least), value(m, m.seconds.most)});
    if (least > 0 && std::isfinite(most))
        made += element("JSON", json_text(rounded({{"min-result", least}, {"max-result", most}})));
    return made + "</Entry>\n";
}

/// Version of the reports' program; nothing if they differ.
std::string common_version(const ExportInput& input) {
    const std::string& first = input.files.front().report.head.version;
    const auto same = [&](const ReportFile& file) { return file.report.head.version == first; };
    return std::ranges::all_of(input.files, same) ? first : "";
}

}  // namespace

Exported export_phoronix(const ExportInput& input) {
    const std::vector<std::string> names = systems(input);
    const std::string version = common_version(input);
    Exported made;
    made.text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PhoronixTestSuite>\n<Generated>\n" +
                element("Title", clipped("vkformer: " + names.front(), 126)) +
                element("LastModified", moment(input.files.front())) +
                element("TestClient", "vkformer " + input.files.front().report.head.version) +
                element("Description", "Speed of transformers on Vulkan devices, by vkformer bench.") +
                "</Generated>\n";
    for (std::size_t i = 0; i < input.files.size(); ++i) made.text += system_element(input.files[i], names[i]);

    // Systems share a result if they measured the same.
    std::vector<std::string> results;  // beginnings of the elements, in the order of the reports
    std::map<std::string, std::string> entries;
    for (std::size_t i = 0; i < input.files.size(); ++i) {
        std::set<std::string> seen;  // results of this report
        for (const Measurement& m : input.files[i].report.measurements) {
            const std::string words = description(input.files[i].report, m);
            const std::string result =
                "<Result>\n" + element("Identifier", "local/vkformer-1.0.0") + element("Title", "vkformer") +
                element("AppVersion", version) + element("Arguments", words) + element("Description", words) +
                element("Scale", scale(m)) + element("Proportion", m.item.empty() ? "LIB" : "HIB") +
                element("DisplayFormat", "BAR_GRAPH") + "<Data>\n";
            if (!seen.insert(result).second) continue;
            if (!entries.contains(result)) results.push_back(result);
            entries[result] += entry_element(m, names[i]);
            ++made.measurements;
        }
    }
    for (const std::string& result : results) made.text += result + entries[result] + "</Data>\n</Result>\n";
    made.text += "</PhoronixTestSuite>\n";
    return made;
}

}  // namespace vkf
