// Tests reports as tables: every row has every column, and texts are read back as they are.

#include <gtest/gtest.h>

#include <map>

#include "apps/bench/export/sample_report.h"

namespace vkf::test {

namespace {

using Row = std::map<std::string, std::string>;

/// Cells of a line in RFC 4180's quoting.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells{""};
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            cells.back() += line[++i];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            cells.emplace_back();
        else
            cells.back() += line[i];
    }
    EXPECT_FALSE(quoted) << line;
    return cells;
}

std::vector<Row> rows_of_csv(const std::string& table) {
    std::istringstream lines(table);
    std::string line;
    std::getline(lines, line);
    const std::vector<std::string> names = cells_of(line);
    std::vector<Row> rows;
    while (std::getline(lines, line)) {
        const std::vector<std::string> cells = cells_of(line);
        EXPECT_EQ(cells.size(), names.size()) << line;
        Row& row = rows.emplace_back();
        for (std::size_t i = 0; i < std::min(cells.size(), names.size()); ++i) row[names[i]] = cells[i];
    }
    return rows;
}

TEST(HostExportCsv, HasEveryMeasurementWithItsDevice) {
    const Exported exported = export_csv(input_of({sample_report(), sample_report()}));
    std::vector<Row> rows = rows_of_csv(exported.text);
    ASSERT_EQ(rows.size(), 12u);
    EXPECT_EQ(exported.measurements, 12u);
    EXPECT_EQ(rows[0]["device"], "GPU 1");
    EXPECT_EQ(rows[0]["processor"], "CPU 3");
    EXPECT_EQ(rows[0]["memory_bytes"], "34359738368");
    EXPECT_EQ(rows[0]["name"], "square");
    EXPECT_EQ(rows[0]["precision"], "bf16");  // of the report
    EXPECT_EQ(rows[0]["median_s"], "2");
    EXPECT_EQ(rows[0]["gflops"], "4");
    EXPECT_EQ(rows[0]["peak_gflops"], "20");
    EXPECT_EQ(rows[0]["share_of_peak"], "0.2");
    EXPECT_EQ(rows[0]["bound"], "compute");
    for (const char* absent : {"deviation_s", "item", "items", "items_per_s", "host_s", "model", "attention"})
        EXPECT_EQ(rows[0][absent], "") << absent;
    EXPECT_EQ(rows[8]["name"], "SmolLM2 135M, belief-star");
    EXPECT_EQ(rows[8]["precision"], "fp32");
    EXPECT_EQ(rows[8]["attention"], "belief-star");
    EXPECT_EQ(rows[8]["deviation_s"], "0.5");
    EXPECT_EQ(rows[8]["items_per_s"], "64");
}

TEST(HostExportCsv, KeepsTextsInTheirCells) {
    BenchReport report = sample_report();
    report.head.device = hostile;
    report.measurements.resize(1);
    report.host.reset();
    std::vector<Row> rows = rows_of_csv(export_csv(input_of({report})).text);
    ASSERT_EQ(rows.size(), 1u);
    const std::string unknown = "\xef\xbf\xbd";
    EXPECT_EQ(rows[0]["device"], "'=1+\"a\", <b>&'" + unknown + "[31m" + unknown + " " + unknown + unknown + "c");
    EXPECT_EQ(rows[0]["kind"], "discrete GPU");
    EXPECT_EQ(rows[0]["os"], "");
    EXPECT_EQ(rows[0]["threads"], "");
}

}  // namespace

}  // namespace vkf::test
