// Small runs of `train`, and `eval` of their best checkpoints, against PyTorch's in double: tests/golden/runs.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "apps/program.h"
#include "golden.h"
#include "scratch.h"

namespace vkf::test {
namespace {

using nlohmann::json;

std::vector<json> lines_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
}

/// Converts an object's members to words --key=value.
std::vector<std::string> arguments_of(const json& options) {
    std::vector<std::string> words;
    for (const auto& [key, value] : options.items())
        words.push_back("--" + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
    return words;
}

/// Checks that every wanted number was found, within the rounding error of its kind.
void expect_numbers(const json& found, const json& wanted, const json& rounding, const std::string& where) {
    for (const auto& [key, value] : wanted.items()) {
        ASSERT_TRUE(found.contains(key)) << where << " lacks " << key;
        const double number = value.get<double>();
        // Learning rates are computed in double; counts are exact.
        const double relative = rounding.contains(key) ? tolerance(rounding.at(key).get<double>())
                                : key == "lr"          ? 0x1p-50
                                                       : 0;
        EXPECT_NEAR(found.at(key).get<double>(), number, relative * std::abs(number)) << where << ", " << key;
    }
}

class ProgramTraining : public ::testing::TestWithParam<std::string> {};

TEST_P(ProgramTraining, LogsTheStepsAndEvaluationsOfFloat64AndKeepsTheBest) {
    const std::filesystem::path folder = golden / "runs" / GetParam();
    const json expected = read_json(folder / "run.json");
    const Scratch scratch;
    const std::string data = (folder / "data").string(), out = (scratch.path() / "out").string();
    std::vector<std::string> words{"train",
                                   GetParam() == "vit" ? "vit" : "gpt",
                                   "--init-from=" + folder.string(),
                                   "--data=" + data,
                                   "--out-dir=" + out,
                                   "--quiet"};
    for (std::string& word : arguments_of(expected.at("options"))) words.push_back(std::move(word));
    run_vkformer(words);

    const std::vector<json> metrics = lines_of(out + "/metrics.jsonl");
    ASSERT_EQ(metrics.size(), expected.at("metrics").size());
    for (std::size_t i = 0; i < metrics.size(); ++i)
        expect_numbers(metrics[i], expected.at("metrics")[i], expected.at("rounding"),
                       "line " + std::to_string(i + 1) + " of metrics.jsonl");

    for (const json& evaluation : expected.at("eval")) {
        std::vector<std::string> eval{"eval", "--model=" + out + "/best", "--data=" + data};
        for (const json& word : evaluation.at("arguments")) eval.push_back(word.get<std::string>());
        expect_numbers(document_of(eval), evaluation.at("result"), expected.at("rounding"),
                       "eval " + evaluation.at("arguments").dump());
    }
}

INSTANTIATE_TEST_SUITE_P(Runs, ProgramTraining, ::testing::Values("gpt2", "vit"), golden_id);

}  // namespace
}  // namespace vkf::test
