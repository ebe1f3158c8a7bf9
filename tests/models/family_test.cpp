// Requirements of every family: sizes that its task needs, and fields that files preserve.

#include "models/families/family.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/files/safetensors.h"
#include "device_fixture.h"
#include "field_values.h"
#include "models/files/config_json.h"
#include "models/files/stored_weights.h"
#include "models/files/weights.h"
#include "models/image_model.h"
#include "program/program.h"
#include "scratch.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

/// Field with this key.
Field field_of(ModelConfig& config, std::string_view key) {
    for (const Field& field : config.fields())
        if (field.key == key) return field;
    ADD_FAILURE() << "no field " << key;
    return config.fields().front();
}

TEST(HostFamily, HasTheSizesThatItsTaskAsksFor) {
    for (const Family* family : families()) {
        const ModelConfig config = family->defaults();
        EXPECT_EQ(&config.family(), family);
        EXPECT_EQ(&family_named(family->model_type, family->architecture), family);
        EXPECT_GT(config.size(Dimension::layers), 0);
        for (const Dimension dimension : family->task().sizes) EXPECT_GT(config.size(dimension), 0);
        EXPECT_NO_THROW(validate(config)) << family->model_type;
    }
}

TEST(HostFamily, FilesKeepEveryField) {
    const Scratch scratch;
    for (const Family* family : families()) {
        ModelConfig defaults = family->defaults();
        for (const Field& field : defaults.fields()) {
            if (!field.saved || !has_other_value(field)) continue;
            ModelConfig config = family->defaults();
            const std::string value = set_other_value(field_of(config, field.key));
            ASSERT_NE(value, shown(field)) << field.key;
            ModelConfig read = read_config_json(scratch.file("config.json", config_json_text(config)));
            EXPECT_EQ(shown(field_of(read, field.key)), value) << family->model_type << ", " << field.key;
            EXPECT_EQ(config_json_text(read), config_json_text(config));
        }
    }
}

TEST(HostFamily, RefusesSizesThatAreTooSmall) {
    for (const Family* family : families()) {
        ModelConfig config = family->defaults();
        for (const Field& field : config.fields()) {
            const auto* whole = std::get_if<IntRange>(&field.value);
            if (!whole) continue;
            const std::int64_t was = std::exchange(*whole->value, whole->least - 1);
            const std::string found = complaint([&] { validate(config); });
            EXPECT_NE(found.find(text(field.key, " is ", whole->least - 1)), std::string::npos) << found;
            *whole->value = was;
        }
    }
}

TEST(HostFamily, AttentionSurvivesItsFile) {
    const Scratch scratch;
    for (const Family* family : families()) {
        ModelConfig config = family->defaults();
        if (!config.has_attention()) continue;
        config.attention() = attention_of("attentionx", 2.5f);
        config.attention().mask_diagonal = true;
        const ModelConfig read = read_config_json(scratch.file("config.json", config_json_text(config)));
        EXPECT_EQ(read.attention(), config.attention());
        EXPECT_THROW(config.attention().set_variant("hope"), InputError);
    }
}

TEST(HostFamily, UnknownOnesAreToldTheKnown) {
    const std::string found = complaint([] { family_named("nobody"); });
    for (const Family* family : families()) EXPECT_NE(found.find(family->model_type), std::string::npos) << found;
}

/// Hugging Face's files of a GPT-2 have longer names, masks in addition to the parameters, and the tied table twice.
TEST(DeviceFamily, TensorsGoByTheirNamesInOtherPrograms) {
    const Scratch scratch;
    const ModelConfig config = tiny_gpt2("standard");
    Graph graph;
    Parameters parameters;
    language_logits(Scope(graph, parameters), config, graph.input("tokens", {DType::i32, {1, 4}}));
    const auto write = [&](float head) {
        std::vector<TensorSource> sources;
        const auto add = [&](const std::string& name, const Shape& shape, std::vector<float> values) {
            const auto extents = shape.extents();
            sources.push_back({name, StoredType::F32, {extents.begin(), extents.end()}, [values](FileWriter& file) {
                                   write_floats(file, values, StoredType::F32);
                               }});
        };
        for (const Parameter& p : parameters.list()) add("transformer." + p.name, p.shape, initial_values(p, 1));
        add("transformer.h.0.attn.bias", {1, 1, 4, 4}, std::vector<float>(16));
        std::vector<float> table = initial_values(parameters.list().front(), 1);
        table.front() += head;
        add("lm_head.weight", parameters.list().front().shape, table);
        write_safetensors(scratch.path() / "model.safetensors", sources);
    };
    State state(shared_device());
    Program program(shared_device(), graph, state);
    const auto load = [&](const TensorNames& names) {
        return complaint([&] { load_weights(scratch.path() / "model.safetensors", parameters.list(), state, names); });
    };
    write(0);
    EXPECT_EQ(load(config.family().tensors), "");
    EXPECT_EQ(state.read("ln_f.weight"), std::vector<float>(24, 1.0f));
    EXPECT_NE(load({}).find("missing wte.weight"), std::string::npos);
    write(1);
    EXPECT_NE(load(config.family().tensors).find("different, wanted equal: lm_head.weight from transformer.wte.weight"),
              std::string::npos);
}

/// Hugging Face's files of a ViT have other names, and separate maps for queries, keys and values.
TEST(DeviceFamily, AVisionTransformersPartsAreJoined) {
    const Scratch scratch;
    const ModelConfig config = parse_config_json(
        R"({"model_type": "vit", "image_size": 8, "patch_size": 4, "hidden_size": 6, "num_hidden_layers": 2,
            "num_attention_heads": 2, "intermediate_size": 10, "id2label": {"0": "a", "1": "b", "2": "c"}})",
        "config.json");
    Graph graph;
    Parameters parameters;
    image_logits(Scope(graph, parameters), config, graph.input("images", image_type(config, 1)));
    const auto drawn = [](const Parameter& p) {
        std::vector<float> values(static_cast<std::size_t>(p.shape.elements()));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(p.name.size() * 1000 + i);
        return values;
    };
    std::vector<TensorSource> sources;
    for (const Parameter& p : parameters.list()) {
        const std::vector<std::string> names = config.family().tensors.elsewhere(p.name);
        ASSERT_EQ(names.size(), p.name.find("attn.qkv") == std::string::npos ? 1u : 3u) << p.name;
        std::vector<std::int64_t> extents(p.shape.extents().begin(), p.shape.extents().end());
        const std::vector<float> values = drawn(p);
        const std::size_t share = values.size() / names.size();
        if (names.size() > 1) extents[0] /= 3;
        for (std::size_t i = 0; i < names.size(); ++i)
            sources.push_back({names[i], StoredType::F32, extents, [=](FileWriter& file) {
                                   write_floats(file, std::span(values).subspan(i * share, share), StoredType::F32);
                               }});
    }
    sources.push_back({"vit.pooler.dense.bias", StoredType::F32, {6}, [](FileWriter& file) {
                           write_floats(file, std::vector<float>(6), StoredType::F32);
                       }});
    const std::filesystem::path file = scratch.path() / "model.safetensors";
    write_safetensors(file, sources);
    const StoredWeights stored = StoredWeights::open(file);
    EXPECT_TRUE(stored.contains("vit.encoder.layer.1.attention.attention.value.bias"));
    State state(shared_device());
    state.reserve(graph);
    load_weights(file, parameters.list(), state, config.family().tensors);
    for (const Parameter& p : parameters.list()) EXPECT_EQ(state.read(p.name), drawn(p)) << p.name;
}

}  // namespace
}  // namespace vkf::test
