// `forward` on golden cases: the tensors of the file that it writes, by name.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "apps/program.h"
#include "golden.h"
#include "scratch.h"
#include "sequence_golden.h"
#include "translation_golden.h"

namespace vkf::test {
namespace {

class ProgramForward : public ::testing::TestWithParam<std::string> {};

TEST_P(ProgramForward, WritesLogitsLossAndEveryGradientUnderItsName) {
    const std::filesystem::path folder = golden / GetParam();
    const Scratch scratch;
    const std::filesystem::path output = scratch.path() / "out.safetensors";
    run_vkformer({"forward", "--model", folder.string(), "--input", (folder / "case.safetensors").string(), "--output",
                  output.string(), "--grads", "--quiet"});
    const Safetensors expected = Safetensors::open(folder / "case.safetensors"), found = Safetensors::open(output);
    std::set<std::string> names, wanted{"logits", "loss"};
    for (const StoredTensor& stored : found.tensors()) names.insert(stored.name);
    for (const StoredTensor& stored : expected.tensors())
        if (stored.name.starts_with("grad.")) wanted.insert(stored.name);
    ASSERT_EQ(names, wanted);
    for (const std::string& name : wanted) EXPECT_EQ(found.at(name).shape, expected.at(name).shape) << name;
    const auto read = [&](const std::string& name) { return found.read_f32(name); };
    if (expected.contains("source_tokens")) return expect_translation_golden(expected, read);
    if (expected.contains("lengths")) return expect_sequence_golden(expected, read);
    expect_golden(expected, read);
}

/// Cases without those of smoothed losses, because `forward` computes plain cross-entropy.
std::vector<std::string> plain_cases() {
    std::vector<std::string> names = golden_cases(true);
    std::erase_if(names, [](const std::string& name) {
        const Safetensors file = Safetensors::open(golden / name / "case.safetensors");
        return file.contains("label_smoothing") && file.read_f32("label_smoothing")[0] > 0;
    });
    return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, ProgramForward, ::testing::ValuesIn(plain_cases()), golden_id);
INSTANTIATE_TEST_SUITE_P(Adapters, ProgramForward, ::testing::ValuesIn(golden_cases(true, "adapter_config.json")),
                         golden_id);

}  // namespace
}  // namespace vkf::test
