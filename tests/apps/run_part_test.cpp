// Member "run" of metrics.jsonl: what made a run, and each part of a resumed one.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/text/utc_time.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<json> lines_of_run(const fs::path& run) {
    std::ifstream file(run / "metrics.jsonl");
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
}

TEST(ProgramRunPart, IsInTheFirstLineOfEachProcess) {
    const Scratch scratch;
    std::string words;
    for (int i = 0; i < 60; ++i) words += text("All is well that ends well, said number ", i * i, ".\n");
    scratch.file("it's a text.txt", words);
    const std::string out = (scratch.path() / "out").string(), data = (scratch.path() / "it's a text.txt").string();
    const std::vector<std::string> small{"--data",          data,
                                         "--max-iters=2",   "--eval-interval=2",
                                         "--eval-iters=1",  "--warmup-iters=1",
                                         "--block-size=16", "--batch-size=2",
                                         "--n-layer=1",     "--n-head=1",
                                         "--n-embd=16",     "--precision=mixed",
                                         "--half=float16"};
    std::vector<std::string> fresh{"train", "gpt", "--out-dir", out, "--quiet"};
    fresh.insert(fresh.end(), small.begin(), small.end());
    run_vkformer(fresh);
    std::vector<std::string> more{"train", "gpt", "--resume", "--out-dir", out, "--max-iters", "4", "--quiet"};
    run_vkformer(more);
    const std::int64_t parameters =
        document_of({"inspect", "--model", out, "--precision=mixed"}).at("parameters").get<std::int64_t>();

    std::vector<json> parts;
    const std::vector<json> lines = lines_of_run(out);
    for (const json& line : lines) {
        EXPECT_TRUE(line.at("step").is_number_integer());
        if (line.contains("run")) parts.push_back(line["run"]);
    }
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_TRUE(lines.front().contains("run"));
    EXPECT_TRUE(lines.front().contains("val_loss"));
    // Steps 0, 0, 1 and 2 are the first process's.
    EXPECT_TRUE(lines.at(4).contains("run"));
    EXPECT_EQ(lines[4]["step"], 2);
    for (const json& part : parts) {
        EXPECT_TRUE(utc_seconds(part.at("start").get<std::string>())) << part;
        EXPECT_EQ(part.at("parameters"), parameters);
        EXPECT_EQ(part.at("precision"), "mixed (float16)");
        for (const char* name : {"vkformer", "device", "driver", "vulkan"})
            EXPECT_NE(part.at(name).get<std::string>(), "") << name;
        EXPECT_NE(part.at("vulkan").get<std::string>().find('.'), std::string::npos);
    }
    const std::string program = fs::path(program_path()).filename().string();
    const auto joined = [&](const std::vector<std::string>& given) {
        std::string line = program;
        for (const std::string& word : given)
            line += word == data ? " '" + (scratch.path() / "it'\\''s a text.txt").string() + "'" : " " + word;
        return line;
    };
    EXPECT_EQ(parts[0].at("command"), joined(fresh));
    EXPECT_EQ(parts[1].at("command"), joined(more));

    const std::string page = (scratch.path() / "page.html").string();
    run_vkformer({"report", out, "--out", page, "--quiet"});
    const std::string shown = bytes_of(page);
    for (const json& part : parts)
        for (const char* name : {"start", "vkformer", "device", "driver", "vulkan", "precision"})
            expect_holds(shown, ">" + part.at(name).get<std::string>() + "</td>");
    expect_holds(shown, "--resume");
}

}  // namespace
}  // namespace vkf::test
