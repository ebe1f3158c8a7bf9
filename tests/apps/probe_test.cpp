// `train --probe-interval` and `forward --taps`.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/files/safetensors.h"
#include "golden.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Members "probe" of a run's lines, by step.
std::map<std::int64_t, json> probes_of(const fs::path& run) {
    std::ifstream file(run / "metrics.jsonl");
    std::map<std::int64_t, json> found;
    for (std::string line; std::getline(file, line);) {
        const json entry = json::parse(line);
        if (!entry.contains("probe")) continue;
        EXPECT_TRUE(found.emplace(entry["step"], entry["probe"]).second) << "step " << entry["step"] << " twice";
    }
    return found;
}

class ProgramProbe : public ::testing::TestWithParam<const char*> {
protected:
    ProgramProbe() {
        std::ofstream text(scratch.path() / "text.txt");
        std::ofstream source(scratch.path() / "a.txt"), target(scratch.path() / "b.txt");
        for (int i = 0; i < 60; ++i) {
            text << "All is well that ends well, said number " << i * i << ".\n";
            source << "number " << i * 7 % 60 << "\n";
            target << "nummer " << i * 7 % 60 << "\n";
        }
    }
    /// A tiny run of six steps.
    std::vector<std::string> words(const std::string& out) const {
        const std::string family = GetParam(), folder = scratch.path().string();
        std::vector<std::string> made{"train",     family, "--max-iters", "6", "--eval-interval", "4",
                                      "--dropout", "0.1",  "--seed",      "3", "--out-dir",       folder + "/" + out,
                                      "--quiet"};
        const std::vector<std::string> language{"--data",         folder + "/text.txt",
                                                "--block-size",   "16",
                                                "--batch-size",   "4",
                                                "--eval-iters",   "1",
                                                "--warmup-iters", "1"};
        const std::vector<std::string> pairs{"--source",
                                             folder + "/a.txt",
                                             "--target",
                                             folder + "/b.txt",
                                             "--d-model",
                                             "16",
                                             "--encoder-layers",
                                             "2",
                                             "--decoder-layers",
                                             "1",
                                             "--encoder-attention-heads",
                                             "2",
                                             "--decoder-attention-heads",
                                             "2",
                                             "--encoder-ffn-dim",
                                             "16",
                                             "--decoder-ffn-dim",
                                             "16",
                                             "--batch-tokens",
                                             "128"};
        const bool translates = family == "translate";
        made.insert(made.end(), translates ? pairs.begin() : language.begin(),
                    translates ? pairs.end() : language.end());
        if (family == "gpt")
            for (const char* word : {"--n-layer", "2", "--n-head", "2", "--n-embd", "16", "--attention", "belief-star"})
                made.emplace_back(word);
        if (family == "bert")
            for (const char* word : {"--n-layer", "2", "--n-head", "2", "--n-embd", "16"}) made.emplace_back(word);
        return made;
    }
    std::vector<std::string> probed(const std::string& out) const {
        std::vector<std::string> made = words(out);
        made.insert(made.end(), {"--probe-interval", "3"});
        return made;
    }

    Scratch scratch;
};

TEST_P(ProgramProbe, ChangesNoBitOfTheRun) {
    run_vkformer(words("plain"));
    run_vkformer(probed("probed"));
    for (const char* name : {"model.safetensors", "best/model.safetensors"})
        EXPECT_EQ(bytes_of(scratch.path() / "plain" / name), bytes_of(scratch.path() / "probed" / name)) << name;
    EXPECT_TRUE(probes_of(scratch.path() / "plain").empty());
    const std::map<std::int64_t, json> found = probes_of(scratch.path() / "probed");
    ASSERT_EQ(found.size(), 3u);  // steps 0, 3 and 6
    const bool translates = std::string(GetParam()) == "translate";
    const std::size_t layers = translates ? 4 : 2;  // the last of four is cross-attention
    for (const auto& [step, probe] : found) {
        EXPECT_EQ(step % 3, 0);
        EXPECT_EQ(probe["layers"].size(), layers);
        EXPECT_EQ(probe.size(), 12u);
        for (const auto& [name, values] : probe.items()) {
            if (name == "layers") continue;
            EXPECT_EQ(values["all"].size(), layers) << name;
        }
        for (const json& value : probe["entropy"]["all"]) EXPECT_GT(value.get<double>(), 0);
        for (std::size_t i = 0; i < layers; ++i) {
            const json &delta = probe["delta_norm"]["all"][i], &mh = probe["mh_norm"]["all"][i];
            if (translates && i == 3) {
                EXPECT_TRUE(delta.is_null());
                EXPECT_GT(mh.get<double>(), 0);
                continue;
            }
            EXPECT_GT(delta.get<double>(), 0);
            EXPECT_LE(delta.get<double>(), mh.get<double>());
        }
        if (translates) {
            EXPECT_EQ(probe["layers"][3], "model.decoder.layers.0.encoder_attn");
        }
    }
    EXPECT_NE(found.at(0), found.at(6));
}

/// A run that goes on from a checkpoint logs the probes of one that was not interrupted.
TEST_P(ProgramProbe, GoesOnWithTheRun) {
    run_vkformer(probed("whole"));
    std::vector<std::string> short_run = probed("parts");
    short_run[3] = "3";
    run_vkformer(short_run);
    run_vkformer({"train", GetParam(), "--resume", "--max-iters", "6", "--out-dir", (scratch.path() / "parts").string(),
                  "--quiet"});
    EXPECT_EQ(probes_of(scratch.path() / "whole"), probes_of(scratch.path() / "parts"));
}

INSTANTIATE_TEST_SUITE_P(Families, ProgramProbe, ::testing::Values("gpt", "bert", "translate"));

/// Evaluation reads images in the order of validation in training, so its first batch is the one that training probes.
TEST(ProgramProbeOfAModel, IsTheLastProbeOfItsTraining) {
    const Scratch scratch;
    const std::string data = (scratch.path() / "shapes").string(), run = (scratch.path() / "run").string();
    run_vkformer({"data", "synthetic-images", "--out", data, "--count", "40", "--test-count", "20", "--quiet"});
    run_vkformer({"train", "vit", "--data", data, "--out-dir", run, "--hidden-size", "8", "--num-hidden-layers", "2",
                  "--num-attention-heads", "2", "--intermediate-size", "8", "--batch-size", "8", "--epochs", "1",
                  "--warmup-epochs", "0", "--probe-interval", "1", "--attention", "belief", "--quiet"});
    const json wanted = probes_of(run).rbegin()->second;
    const json found = document_of({"eval", "--model", run, "--data", data, "--split", "val", "--batch-size", "8",
                                    "--probe"});
    EXPECT_EQ(found["layers"], wanted["layers"]);
    EXPECT_EQ(found.size(), 12u);
    for (const auto& [name, values] : wanted.items())
        for (std::size_t i = 0; i < wanted["layers"].size() && name != "layers"; ++i)
            EXPECT_NEAR(found[name]["all"][i].get<double>(), values["all"][i].get<double>(), 1e-6) << name;
}

TEST(ProgramTaps, AreWrittenNextToLogits) {
    const Scratch scratch;
    const fs::path folder = golden / "belief-star", output = scratch.path() / "out.safetensors";
    const auto forward = [&](std::vector<std::string> more) {
        std::vector<std::string> words{
            "forward",  "--model",       folder.string(), "--input", (folder / "case.safetensors").string(),
            "--output", output.string(), "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        run_vkformer(words);
        return Safetensors::open(output);
    };
    const std::vector<float> logits = forward({}).read_f32("logits");
    const Safetensors found = forward({"--taps", "attended,attention_weights"});
    EXPECT_EQ(found.read_f32("logits"), logits);
    EXPECT_EQ(found.tensors().size(), 2 + 4u);
    const Safetensors wanted = Safetensors::open(golden / "probes" / "belief-star.safetensors");
    for (const char* name : {"tap.h.0.attn.attended", "tap.h.1.attn.attention_weights"}) {
        EXPECT_EQ(found.at(name).shape, wanted.at(name).shape);
        EXPECT_LE(difference(found.read_f32(name), wanted.read_f32(name)), 2e-5) << name;
    }
}

}  // namespace
}  // namespace vkf::test
