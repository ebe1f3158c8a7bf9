// Commands on a Marian directory of Hugging Face's form, tests/golden/marian-files: translations, training, refusals.

#include <gtest/gtest.h>

#include <map>

#include "apps/program.h"
#include "golden.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path files = golden / "marian-files";

/// A copy of the golden directory, to be changed.
struct CopiedModel {
    Scratch scratch;
    fs::path path = scratch.path() / "model";

    CopiedModel() { fs::copy(files, path); }
    void write(const std::string& name, const json& value) const { std::ofstream(path / name) << value.dump(); }
    /// Message of `translate`, which must fail.
    std::string refusal() const {
        const Outcome outcome =
            run_program({program_path(), "translate", "--model", path.string(), "--text", "mi", "--quiet"}, {}, {});
        EXPECT_EQ(outcome.status, 2);
        return outcome.complaint();
    }
};

/// Translates all golden sentences.
json translated(const fs::path& model, const std::vector<std::string>& options) {
    std::vector<std::string> words{"translate", "--model", model.string()};
    const json wanted = read_json(files / "translations.json");
    for (const json& row : wanted.at("sentences")) words.push_back("--text=" + row.at("sentence").get<std::string>());
    words.insert(words.end(), options.begin(), options.end());
    return document_of(words).at("sentences");
}

void expect_golden_beams(const json& found) {
    const json wanted = read_json(files / "translations.json").at("sentences");
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const json &translations = found[i].at("translations"), &beam = wanted[i].at("beam");
        ASSERT_EQ(translations.size(), beam.size());
        EXPECT_EQ(translations[0].at("text"), wanted[i].at("text"));
        for (std::size_t k = 0; k < beam.size(); ++k) {
            EXPECT_EQ(translations[k].at("tokens"), beam[k].at("tokens")) << i << ' ' << k;
            EXPECT_NEAR(translations[k].at("score").get<double>(), beam[k].at("score").get<double>(), 1e-4);
            EXPECT_NEAR(translations[k].at("log_probability").get<double>(), beam[k].at("sum").get<double>(), 1e-4);
        }
    }
}

TEST(ProgramMarianFiles, TranslationsFollowTheSettingsOfTheFiles) {
    expect_golden_beams(translated(files, {"--n-best", "4"}));
    const json wanted = read_json(files / "translations.json").at("sentences");
    const json greedy = translated(files, {"--beam-size", "1"});
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(greedy[i].at("translations")[0].at("tokens"), wanted[i].at("greedy")) << i;
    const json shorter = translated(files, {"--max-length", "2"});
    for (const json& sentence : shorter) {
        const json& tokens = sentence.at("translations")[0].at("tokens");
        EXPECT_EQ(tokens.size(), 2u);
        EXPECT_EQ(tokens[1], 0);
    }
}

TEST(ProgramMarianFiles, EarlierVersionsOfTheLibraryWroteAnotherType) {
    const CopiedModel model;
    fs::rename(model.path / "config-bart.json", model.path / "config.json");
    fs::remove(model.path / "generation_config.json");
    json config = read_json(model.path / "config.json");
    expect_golden_beams(translated(model.path, {"--n-best", "4"}));
    config["static_position_embeddings"] = false;
    model.write("config.json", config);
    expect_holds(model.refusal(), "'static_position_embeddings' is not true: learned positions");
}

/// Shapes of a file's tensors by name, without the copies and tables that a file may hold besides parameters.
std::map<std::string, std::vector<std::int64_t>> shapes_in(const fs::path& file) {
    std::map<std::string, std::vector<std::int64_t>> shapes;
    const Safetensors stored = Safetensors::open(file);
    for (const StoredTensor& tensor : stored.tensors())
        if (!tensor.name.ends_with("embed_positions.weight") && !tensor.name.ends_with("embed_tokens.weight") &&
            tensor.name != "lm_head.weight")
            shapes.emplace(tensor.name, tensor.shape);
    return shapes;
}

TEST(ProgramMarianFiles, ATrainedModelHasTheFilesOfItsOrigin) {
    const Scratch scratch;
    const std::string out = (scratch.path() / "out").string(),
                      source = scratch.file("source", "fim mi\noto tan\nbel\n").string(),
                      target = scratch.file("target", "xe zo\nri u\ndova\n").string();
    run_vkformer({"train",
                  "translate",
                  "--init-from",
                  files.string(),
                  "--source",
                  source,
                  "--target",
                  target,
                  "--val-source",
                  source,
                  "--val-target",
                  target,
                  "--max-iters",
                  "4",
                  "--eval-interval",
                  "2",
                  "--warmup-iters",
                  "0",
                  "--learning-rate",
                  "1e-3",
                  "--model-ema-decay",
                  "0.5",
                  "--out-dir",
                  out,
                  "--quiet"});
    const Safetensors before = Safetensors::open(files / "model.safetensors");
    for (const fs::path& folder : {fs::path(out), fs::path(out) / "best"}) {
        for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json",
                                 "special_tokens_map.json", "generation_config.json"})
            EXPECT_EQ(bytes_of(folder / name), bytes_of(files / name)) << folder / name;
        EXPECT_EQ(shapes_in(folder / "model.safetensors"), shapes_in(files / "model.safetensors"));
        const Safetensors after = Safetensors::open(folder / "model.safetensors");
        EXPECT_FALSE(after.contains("model.encoder.embed_positions.weight"));
        EXPECT_EQ(after.read_f32("final_logits_bias"), before.read_f32("final_logits_bias"));
        EXPECT_NE(after.read_f32("model.shared.weight"), before.read_f32("model.shared.weight"));
        const json written = read_json(folder / "config.json"), read = read_json(files / "config.json");
        EXPECT_EQ(written.at("model_type"), "marian");
        for (const auto& [key, value] : written.items()) {
            const bool named_alike = read.contains(key) && key != "activation_function";
            EXPECT_TRUE(!named_alike || value == read.at(key)) << key;
        }
        EXPECT_EQ(written.at("activation_function"), "silu");  // another name of swish
        EXPECT_EQ(translated(folder, {}).size(), read_json(files / "translations.json").at("sentences").size());
    }
    run_vkformer({"train", "translate", "--resume", "--out-dir", out, "--max-iters", "6", "--quiet"});
    EXPECT_EQ(Safetensors::open(fs::path(out) / "model.safetensors").read_f32("final_logits_bias"),
              before.read_f32("final_logits_bias"));
    run_vkformer({"eval", "--model", out, "--source", source, "--target", target, "--bleu", "--quiet"});
    const json inspected = document_of({"inspect", "--model", files.string()});
    const std::int64_t bias = before.at("final_logits_bias").shape[1];
    EXPECT_EQ(inspected.at("trained_parameters").get<std::int64_t>() + bias, inspected.at("parameters"));
}

TEST(ProgramMarianFiles, AFreshModelMayHaveTheTokenizersOfAnother) {
    const Scratch scratch;
    const fs::path out = scratch.path() / "out";
    const std::string pairs = scratch.file("pairs.tsv", "fim mi\txe zo\noto tan\tri u\nbel\tdova\n").string();
    run_vkformer({"train",
                  "translate",
                  "--tokenizer",
                  files.string(),
                  "--pairs",
                  pairs,
                  "--d-model",
                  "16",
                  "--encoder-layers",
                  "1",
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
                  "--max-iters",
                  "2",
                  "--warmup-iters",
                  "0",
                  "--out-dir",
                  out.string(),
                  "--quiet"});
    for (const char* name : {"source.spm", "target.spm", "vocab.json"})
        EXPECT_EQ(bytes_of(out / name), bytes_of(files / name)) << name;
    EXPECT_FALSE(fs::exists(out / "generation_config.json"));
    const json config = read_json(out / "config.json");
    EXPECT_EQ(config.at("vocab_size"), read_json(files / "config.json").at("vocab_size"));
    EXPECT_EQ(config.at("share_encoder_decoder_embeddings"), true);
    EXPECT_EQ(config.at("eos_token_id"), 0);
    EXPECT_EQ(translated(out, {"--max-length", "3"}).size(), 13u);
}

TEST(ProgramMarianFiles, ModelsThatContradictThemselvesAreRefused) {
    const auto with = [](const std::string& file, const std::string& key, const json& value) {
        const CopiedModel model;
        json object = read_json(model.path / file);
        object[key] = value;
        model.write(file, object);
        return model.refusal();
    };
    expect_holds(with("config.json", "normalize_embedding", true),
                 "'normalize_embedding' is true, which is not supported, wanted false");
    expect_holds(with("config.json", "add_final_layer_norm", true), "'add_final_layer_norm' is true");
    expect_holds(with("config.json", "static_position_embeddings", false), "learned positions");
    expect_holds(with("vocab.json", "more", 61), "vocab.json: has ");
    expect_holds(with("config.json", "eos_token_id", 3), "the end of texts is 0, but config.json's eos_token_id is 3");
    expect_holds(with("config.json", "position_embedding_type", "sinusoidal_interleaved"),
                 "because config.json describes positions by sines and cosines");
    expect_holds(with("config.json", "position_embedding_type", "absolute"), "wanted sinusoidal");
    expect_holds(with("config.json", "encoder_layers", 3), "missing model.encoder.layers.2.");
    expect_holds(with("generation_config.json", "do_sample", true), "'do_sample' is true, which is not supported");
    expect_holds(with("generation_config.json", "bad_words_ids", json::array({{1, 2}})),
                 "wanted lists of one token below");
    expect_holds(with("generation_config.json", "num_beams", 40), "'num_beams' is 40, wanted 1 to 16");
    expect_holds(with("generation_config.json", "eos_token_id", 2), "'eos_token_id' is 2, wanted 0 as in config.json");
    expect_holds(with("generation_config.json", "no_repeat_ngram_size", 3), "'no_repeat_ngram_size' is 3");
}

/// Changes the last number of a stored tensor.
void spoil(const fs::path& file, const std::string& name) {
    std::string bytes = bytes_of(file);
    const Safetensors stored = Safetensors::open(file);
    const std::size_t header = 8 + static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) +
                               256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes[1]));
    const json offsets = json::parse(bytes.substr(8, header - 8)).at(name).at("data_offsets");
    bytes[header + offsets[1].get<std::size_t>() - 2] ^= 0x40;  // of the last number's greatest digits
    std::ofstream(file, std::ios::binary) << bytes;
}

/// Other programs store one of the equal tables, and its name is not always that of the parameter.
TEST(ProgramMarianFiles, ACopyMayStandForTheTable) {
    const CopiedModel model;
    const Safetensors stored = Safetensors::open(files / "model.safetensors");
    std::vector<TensorSource> sources;
    for (const StoredTensor& tensor : stored.tensors())
        if (tensor.name != "model.shared.weight" && !tensor.name.ends_with("embed_tokens.weight"))
            sources.push_back({tensor.name, StoredType::F32, tensor.shape, [&stored, &tensor](FileWriter& file) {
                                   write_floats(file, stored.read_f32(tensor.name), StoredType::F32);
                               }});
    write_safetensors(model.path / "model.safetensors", sources);
    expect_golden_beams(translated(model.path, {"--n-best", "4"}));
    std::erase_if(sources, [](const TensorSource& source) { return source.name == "lm_head.weight"; });
    write_safetensors(model.path / "model.safetensors", sources);
    expect_holds(model.refusal(), "missing model.shared.weight");
}

TEST(ProgramMarianFiles, CopiesThatDifferAreRefused) {
    for (const char* name : {"lm_head.weight", "model.decoder.embed_tokens.weight"}) {
        const CopiedModel model;
        spoil(model.path / "model.safetensors", name);
        expect_holds(model.refusal(), text("different, wanted equal: ", name, " from model.shared.weight"));
    }
    const CopiedModel model;
    spoil(model.path / "model.safetensors", "model.decoder.embed_positions.weight");
    expect_holds(model.refusal(), "model.decoder.embed_positions.weight has ");
}

TEST(ProgramMarianFiles, PickledWeightsAreNotRead) {
    const CopiedModel model;
    fs::rename(model.path / "model.safetensors", model.path / "pytorch_model.bin");
    expect_holds(model.refusal(),
                 "pytorch_model.bin: pickled weights are not read, because they can run programs; "
                 "wanted model.safetensors, which save_pretrained(DIR, safe_serialization=True)");
}

}  // namespace
}  // namespace vkf::test
