// Manifests: files that are damaged, missing or from another checkpoint are named.

#include "models/files/manifest.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

/// Writes a checkpoint of this step into a folder of the scratch.
void write_checkpoint(const Scratch& scratch, const std::string& folder, std::int64_t step) {
    scratch.file(folder + "/config.json", "{}");
    scratch.file(folder + "/model.safetensors", text("weights of step ", step));
    scratch.file(folder + "/optimizer.safetensors", text("moments of step ", step));
    const Manifest manifest = make_manifest(scratch.path() / folder, "run", step, "config.json");
    scratch.file(folder + "/manifest.json", manifest_text(manifest));
}

TEST(HostManifest, HashesAreXxh3s) {
    EXPECT_EQ(content_hash(""),
              "99aa06d3014798d86001c324468d497f");  // XXH3_128bits of nothing, as xxhsum -H2 prints it
    EXPECT_NE(content_hash("a"), content_hash("b"));
}

TEST(HostManifest, AWholeCheckpointPasses) {
    const Scratch scratch;
    write_checkpoint(scratch, "run", 7);
    const auto manifest = verify_checkpoint(scratch.path() / "run");
    ASSERT_TRUE(manifest);
    EXPECT_EQ(manifest->step, 7);
    EXPECT_EQ(manifest->run, "run");
    EXPECT_EQ(manifest->config, content_hash("{}"));
    EXPECT_EQ(manifest->names(),
              (std::vector<fs::path>{"config.json", "model.safetensors", "optimizer.safetensors", "manifest.json"}));
    EXPECT_FALSE(verify_checkpoint(scratch.path()));
}

TEST(HostManifest, DamageNamesTheFile) {
    const Scratch scratch;
    write_checkpoint(scratch, "a", 1);
    write_checkpoint(scratch, "b", 2);
    const auto wrong = [&](const char* words) {
        expect_holds(complaint([&] { verify_checkpoint(scratch.path() / "a"); }), words);
    };
    scratch.file("a/model.safetensors", "weights of step 0");
    wrong("a/model.safetensors: is damaged, or of another checkpoint");
    scratch.file("a/model.safetensors", "weights");
    wrong("a/model.safetensors: has 7 bytes");
    fs::remove(scratch.path() / "a" / "model.safetensors");
    wrong("a/model.safetensors: is missing");
    fs::copy_file(scratch.path() / "b" / "model.safetensors", scratch.path() / "a" / "model.safetensors");
    wrong("a/model.safetensors: is damaged, or of another checkpoint");
    scratch.file("a/model.safetensors", "weights of step 1");
    EXPECT_TRUE(verify_checkpoint(scratch.path() / "a"));
}

TEST(HostManifest, OthersAreRefused) {
    const Scratch scratch;
    const auto refused = [&](const std::string& words, const char* complaint_holds) {
        scratch.file("manifest.json", words);
        expect_holds(complaint([&] { read_manifest(scratch.path()); }), complaint_holds);
    };
    refused("", "manifest.json");
    refused("[]", "is no manifest of a checkpoint");
    refused(R"({"format": "of a later version"})", "format is");
    refused(R"({"format": "vkformer checkpoint 1", "run": 1, "step": 1, "config": "", "files": {}})", "is no manifest");
    refused(R"({"format": "vkformer checkpoint 1", "run": "", "step": 1, "config": "",
                "files": {"../victim": {"bytes": 1, "xxh3_128": ""}}})",
            "lists");
}

}  // namespace
}  // namespace vkf::test
