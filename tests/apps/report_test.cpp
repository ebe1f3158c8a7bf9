// `report` on runs that the test writes.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/program.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
    return found;
}

class ProgramReport : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (scratch.path() / name).string(); }

    /// A run of so many steps whose losses are `level` + 1/(step + 1).
    void write_run(const std::string& name, const std::string& options, double level, int steps = 20,
                   bool probed = false) {
        fs::create_directories(path(name));
        std::ofstream(path(name) + "/train.toml") << options;
        std::ofstream lines(path(name) + "/metrics.jsonl");
        for (int step = 0; step < steps; ++step) {
            const double loss = level + 1.0 / (step + 1);
            if (step % 5 == 0) lines << R"({"step":)" << step << R"(,"val_loss":)" << loss + 0.25 << "}\n";
            if (probed && step % 10 == 0)
                lines << R"({"step":)" << step << R"(,"probe":{"layers":["h.0","h.1"],"mh_norm":{"first":[1,2],"all":[)"
                      << loss << ",null]}}}\n";
            lines << R"({"step":)" << step << R"(,"loss":)" << loss << R"(,"lr":0.001,"grad_norm":1,"ms":100,)"
                  << R"("tokens_per_s":50})"
                  << "\n";
        }
    }
    std::string page(std::vector<std::string> runs, const std::vector<std::string>& more = {}) {
        for (std::string& run : runs) run = path(run);
        runs.insert(runs.begin(), "report");
        runs.insert(runs.end(), {"--out", path("page.html"), "--quiet"});
        runs.insert(runs.end(), more.begin(), more.end());
        run_vkformer(runs);
        return bytes_of(path("page.html"));
    }
    /// Runs a report that must end with status 2; returns its message.
    std::string refused(std::vector<std::string> words) {
        words.insert(words.begin(), {program_path(), "report"});
        const Outcome outcome = run_program(words, {}, {});
        EXPECT_EQ(outcome.status, 2);
        return outcome.complaint();
    }

    Scratch scratch;
};

TEST_F(ProgramReport, AveragesSeedsAndNamesGroupsByWhatDiffers) {
    write_run("a", "attention = \"standard\"\nseed = 1\n", 2);
    write_run("b", "attention = \"belief\"\nseed = 1\n", 1.5);
    write_run("c", "attention = \"belief\"\nseed = 2\n", 1.7);
    const std::string made = page({"a", "b", "c"});
    // In the legends of four figures, in the results, and in the table of options, which also has the value.
    EXPECT_EQ(count(made, ">belief (2 seeds)</"), 6u);
    EXPECT_EQ(count(made, ">standard</"), 7u);
    EXPECT_NE(made.find("1.9125 ± 0.1414"), std::string::npos);  // 1.5 + 0.25 + 1/16 and 1.7 + …: their mean
    EXPECT_EQ(count(made, "<polygon"), 4u);  // bands: validation loss, rate, norm and speed of two seeds
    for (const char* title : {"Loss: validation", "Learning rate", "Gradient norm", "Speed"})
        EXPECT_EQ(count(made, title), 1u) << title;
    EXPECT_EQ(count(made, "by depth"), 0u);  // no probes
}

TEST_F(ProgramReport, ShowsProbesByLayerAndByDepth) {
    write_run("a", "seed = 1\n", 2, 20, true);
    const std::string made = page({"a"});
    EXPECT_EQ(count(made, "‖MH‖ of the first token, by depth"), 1u);
    EXPECT_EQ(count(made, "‖MH‖, by depth"), 1u);
    EXPECT_EQ(count(made, ">h.1</text>"), 2u);
}

TEST_F(ProgramReport, NeedsNoNetworkAndTrustsNoName) {
    write_run("<script>alert(1)</script>", "attention = \"<b>\"\nx = \"</td><script>\"\n", 2);
    write_run("b", "attention = \"&\"\n", 2);
    const std::string made = page({"<script>alert(1)</script>", "b"});
    EXPECT_EQ(count(made, "<script"), 0u);
    EXPECT_EQ(count(made, "<b>"), 0u);
    EXPECT_EQ(count(made, "http"), count(made, "http://www.w3.org/2000/svg"));
}

TEST_F(ProgramReport, ShowsPicturesAndTheTextsThatModelsWrote) {
    write_run("a", "seed = 1\n", 2);
    std::ofstream(path("a") + "/metrics.jsonl", std::ios::app)
        << R"({"step":20,"val_loss":1,"sample":"<b> to be"})"
        << "\n"
        << R"({"step":21,"val_loss":1,"sample":["no text"]})"
        << "\n";
    scratch.file("\"map\".svg", "<svg><script>1</script></svg>");
    const std::string plain = page({"a"}), made = page({"a"}, {"--picture", path("\"map\".svg")});
    EXPECT_EQ(count(plain, "<h2>Pictures</h2>"), 0u);
    EXPECT_EQ(count(plain, "<h2>Texts</h2>"), 1u);
    EXPECT_EQ(count(plain, "<pre>"), 1u);
    EXPECT_EQ(count(plain, "<pre>&lt;b&gt; to be</pre>"), 1u);
    EXPECT_EQ(count(made, "<h2>Pictures</h2>"), 1u);
    EXPECT_EQ(count(made, R"(alt="&quot;map&quot;.svg" src="data:image/svg+xml;base64,)"
                          "PHN2Zz48c2NyaXB0PjE8L3NjcmlwdD48L3N2Zz4=\">"),
              1u);
}

TEST_F(ProgramReport, ListsThePartsOfEachRun) {
    write_run("a", "lr = 1\nseed = 1\n", 2);
    write_run("b", "lr = 1\nseed = 2\n", 2);
    write_run("c", "lr = 2\n", 2);
    std::ofstream(path("a") + "/metrics.jsonl", std::ios::app)
        << R"({"step":20,"run":{"start":"2026-01-31T12:00:00Z","device":"<i>","parameters":77,"command":"x 'y z'"}})"
        << "\n"
        << R"({"step":30,"run":{"driver":"D"},"loss":2})"
        << "\n"
        << R"({"step":31,"run":7,"loss":2})"
        << "\n";
    const std::string made = page({"a", "b", "c"});
    EXPECT_EQ(count(made, "<h2>Programs and devices</h2>"), 1u);
    EXPECT_EQ(count(made, "<h3>"), 2u);
    const std::string step = R"(<td class="number">)", words = R"(<td class="words" colspan="1">)";
    EXPECT_EQ(count(made, step + "20</td><td>2026-01-31T12:00:00Z</td>" + words + "&lt;i&gt;</td>"), 1u);
    EXPECT_EQ(count(made, "<td>77</td></tr>\n<tr><td></td><td class=\"words\" colspan=\"9\">x 'y z'</td></tr>"), 1u);
    EXPECT_EQ(count(made, step + "30</td><td></td>" + words + "</td>" + words + "D</td>"), 1u);
    EXPECT_EQ(count(made, "not recorded"), 2u);
    EXPECT_EQ(count(page({"b", "c"}), "Programs and devices"), 0u);
}

TEST_F(ProgramReport, WritesATableAndPictures) {
    write_run("a", "", 2, 6);
    write_run("b", "", 3, 6);
    run_vkformer({"report", path("a"), path("b"), "--out", path("p.html"), "--csv", path("p.csv"), "--plots", path("p"),
                  "--quiet"});
    std::istringstream lines(bytes_of(path("p.csv")));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, R"(run,step,"grad_norm","loss","lr","ms","tokens_per_s","val_loss")");
    std::getline(lines, line);
    EXPECT_EQ(line, '"' + path("a") + R"(",0,1,3,0.001,100,50,3.25)");
    std::getline(lines, line);
    EXPECT_EQ(line, '"' + path("a") + R"(",1,1,2.5,0.001,100,50,)");
    EXPECT_EQ(count(bytes_of(path("p.csv")), "\n"), 13u);
    for (const char* name : {"loss", "lr", "grad_norm", "tokens_per_s"})
        EXPECT_TRUE(bytes_of(path("p") + "/" + name + ".svg").starts_with("<svg")) << name;
    EXPECT_NE(refused({path("a"), "--out", path("p.html"), "--plots", path("p")}).find("is there already"),
              std::string::npos);
}

TEST_F(ProgramReport, WatchDrawsARunInText) {
    write_run("a", "max-iters = 40\n", 2);
    const std::string drawn = run_vkformer({"watch", path("a")}).output;  // no terminal: once
    EXPECT_EQ(count(drawn, "\n"), 15u);
    EXPECT_NE(drawn.find("val_loss (heavy), loss"), std::string::npos);
    EXPECT_NE(drawn.find("step 19 of 40, loss 2.0500, val_loss 2.3125, 50 tokens/s, 0:02 left"), std::string::npos)
        << drawn;
    const nlohmann::json found = document_of({"watch", path("a")});
    EXPECT_EQ(found["step"], 19);
    EXPECT_EQ(found["lr"], 0.001);
    const Outcome outcome = run_program({program_path(), "watch", path("a"), "--metric", "none"}, {}, {});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.complaint().find("has no none yet"), std::string::npos);
}

TEST_F(ProgramReport, KeepsLongRunsSmall) {
    write_run("a", "", 2, 10'000);
    EXPECT_LT(page({"a"}).size(), 200'000u);
}

TEST_F(ProgramReport, ReadsARunThatWasKilledAndRefusesADamagedOne) {
    write_run("a", "", 2);
    std::ofstream(path("a") + "/metrics.jsonl", std::ios::app) << R"({"step":20,"lo)";
    page({"a"});
    std::ofstream(path("a") + "/metrics.jsonl", std::ios::app) << "\n"
                                                               << R"({"step":21,"loss":1})"
                                                               << "\n";
    EXPECT_NE(refused({path("a"), "--out", path("p.html")}).find("metrics.jsonl: line 25"), std::string::npos);
    EXPECT_NE(refused({path("none"), "--out", path("p.html")}).find("has no metrics.jsonl"), std::string::npos);
    EXPECT_NE(refused({path("a"), "--out", path("a") + "/metrics.jsonl"}).find("--out"), std::string::npos);
    fs::create_directories(path("empty"));
    std::ofstream(path("empty") + "/metrics.jsonl") << "{}\n";
    EXPECT_NE(refused({path("empty"), "--out", path("p.html")}).find("no number to draw"), std::string::npos);
}

}  // namespace
}  // namespace vkf::test
