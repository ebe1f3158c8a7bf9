// Weights in several files: an index and its shards, as written by Hugging Face's programs.

#include "models/files/stored_weights.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "scratch.h"

namespace vkf::test {
namespace {

constexpr std::array<float, 2> ones{1, 2}, twos{3, 4};

/// A folder with two shards and any index.
class Sharded {
public:
    explicit Sharded(const std::string& weight_map) {
        write("model-00001-of-00002.safetensors", "a", ones);
        write("model-00002-of-00002.safetensors", "b", twos);
        scratch_.file("model.safetensors.index.json",
                      R"({"metadata": {"total_size": 16}, "weight_map": )" + weight_map + "}");
    }

    void write(const std::string& file, const std::string& name, std::span<const float> values) {
        write_safetensors(scratch_.path() / file, std::array{float_source(name, {2}, values)});
    }
    std::filesystem::path folder() const { return scratch_.path(); }
    StoredWeights open() const { return StoredWeights::open(folder() / "model.safetensors"); }

private:
    Scratch scratch_;
};

const std::string both = R"({"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"})";

TEST(HostStoredWeights, AreFoundInEveryShard) {
    const Sharded sharded(both);
    const StoredWeights weights = sharded.open();
    EXPECT_EQ(weights.path().filename(), "model.safetensors.index.json");
    EXPECT_EQ(weights.tensors().size(), 2u);
    EXPECT_EQ(weights.read_f32("a"), std::vector(ones.begin(), ones.end()));
    EXPECT_EQ(weights.read_f32("b"), std::vector(twos.begin(), twos.end()));
    EXPECT_FALSE(weights.contains("c"));
}

TEST(HostStoredWeights, OneFileGoesFirst) {
    Sharded sharded(both);
    sharded.write("model.safetensors", "a", twos);
    EXPECT_EQ(sharded.open().read_f32("a"), std::vector(twos.begin(), twos.end()));
    EXPECT_EQ(sharded.open().tensors().size(), 1u);
}

TEST(HostStoredWeights, NameTheShardThatIsMissing) {
    const Sharded sharded(both);
    std::filesystem::remove(sharded.folder() / "model-00002-of-00002.safetensors");
    const std::string found = complaint([&] { sharded.open(); });
    EXPECT_NE(found.find("model.safetensors.index.json: model-00002-of-00002.safetensors is missing, wanted all 2"),
              std::string::npos)
        << found;
}

TEST(HostStoredWeights, RefuseAnIndexThatDoesNotFit) {
    const auto expect = [](const std::string& weight_map, const std::string& words) {
        const Sharded sharded(weight_map);
        const std::string found = complaint([&] { sharded.open(); });
        EXPECT_NE(found.find(words), std::string::npos) << found;
    };
    expect(R"({"c": "model-00001-of-00002.safetensors"})", "tensor c is not in model-00001-of-00002.safetensors");
    expect(R"({"a": "model-00002-of-00002.safetensors", "b": "model-00001-of-00002.safetensors"})",
           "tensor a is not in");
    expect(R"({"a": "../model-00001-of-00002.safetensors"})", "wanted the name of a file beside it");
    expect(R"({"a": ""})", "wanted the name of a file beside it");
    expect(R"([1])", "wanted a JSON object");
    Sharded twice(both);
    twice.write("model-00002-of-00002.safetensors", "a", twos);
    EXPECT_NE(complaint([&] { twice.open(); }).find("tensor a is in"), std::string::npos);
}

}  // namespace
}  // namespace vkf::test
