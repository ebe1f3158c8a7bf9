#include "models/files/generation_config.h"

#include "scratch.h"

namespace vkf::test {
namespace {

TEST(HostGenerationConfig, TheFileGoesBeforeTheConfiguration) {
    const Scratch scratch;
    scratch.file("config.json", R"({"model_type": "gpt2", "temperature": 0.3, "eos_token_id": 7, "num_beams": 1})");
    GenerationConfig said = read_generation_config(scratch.path());
    EXPECT_EQ(said.temperature, 0.3);
    EXPECT_EQ(said.end_tokens, std::vector<std::int32_t>{7});
    EXPECT_EQ(said.file, scratch.path() / "config.json");
    scratch.file("generation_config.json", R"({"_from_model_config": true, "bos_token_id": 1, "do_sample": true,
        "max_new_tokens": 30, "repetition_penalty": 1.1, "stop_strings": "x", "top_k": 5, "top_p": null})");
    said = read_generation_config(scratch.path());
    EXPECT_EQ(said.temperature, std::nullopt);
    EXPECT_EQ(said.top_p, std::nullopt);
    EXPECT_EQ(said.do_sample, true);
    EXPECT_EQ(said.top_k, 5);
    EXPECT_EQ(said.max_new_tokens, 30);
    EXPECT_EQ(said.repetition_penalty, 1.1);
    EXPECT_EQ(said.stop_strings, std::vector<std::string>{"x"});
    EXPECT_EQ(said.end_tokens, std::vector<std::int32_t>{7});  // the file does not set it
    scratch.file("generation_config.json", R"({"eos_token_id": [270, 159]})");
    EXPECT_EQ(read_generation_config(scratch.path()).end_tokens, (std::vector<std::int32_t>{270, 159}));
}

TEST(HostGenerationConfig, WhatIsMadeOfAModelSaysTheSame) {
    const Scratch scratch;
    scratch.file("config.json", R"({"model_type": "gpt2", "n_layer": 1, "transformers_version": "4"})");
    EXPECT_EQ(generation_config_text(scratch.path()), std::nullopt);
    scratch.file("config.json", R"({"model_type": "gpt2", "n_layer": 1, "eos_token_id": [2, 5], "top_k": 3})");
    const std::string text = generation_config_text(scratch.path()).value();
    scratch.file("config.json", "{}");
    scratch.file("generation_config.json", text);
    EXPECT_EQ(read_generation_config(scratch.path()).end_tokens, (std::vector<std::int32_t>{2, 5}));
    EXPECT_EQ(read_generation_config(scratch.path()).top_k, 3);
    EXPECT_EQ(generation_config_text(scratch.path()), text);
}

TEST(HostGenerationConfig, WhatIsNotDoneHereIsRefusedByName) {
    const Scratch scratch;
    scratch.file("config.json", "{}");
    const auto refused = [&](const char* keys, const char* reason) {
        scratch.file("generation_config.json", keys);
        expect_holds(complaint([&] { read_generation_config(scratch.path()); }), reason);
    };
    refused(R"({"num_beams": 4})", "generation_config.json: 'num_beams' is 4, which is not supported, wanted 1");
    refused(R"({"no_repeat_ngram_size": 3})", "'no_repeat_ngram_size' is 3, which is not supported, wanted 0");
    refused(R"({"suppress_tokens": [1]})", "'suppress_tokens' is [1], which is not supported, wanted null");
    refused(R"({"eos_token_id": "x"})", "'eos_token_id' is \"x\", wanted a token or a list of tokens");
    refused(R"({"temperature": "hot"})", "'temperature' is \"hot\", wanted a number");
    refused("[]", "generation_config.json: wanted a JSON object");
}

}  // namespace
}  // namespace vkf::test
