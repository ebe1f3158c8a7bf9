// Vocabularies of published models, read from $VKFORMER_DATA if they are there.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files/file.h"
#include "base/os/subprocess.h"
#include "models/data/data_paths.h"
#include "models/tokenizers/bpe/gpt2_files.h"
#include "models/tokenizers/tokenizer_json/tokenizer_json.h"
#include "tests/scratch.h"

// Skips the test unless the data folders have this file or folder.
#define VKF_NEEDS(name) \
    if (!find_data(name)) GTEST_SKIP() << (name) << " is not in " << DATA_FOLDERS

namespace vkf::test {

/// Path of a file of the data folders, unpacked if its name ends in .xz.
inline std::filesystem::path data_file(const Scratch& scratch, const std::string& name) {
    const std::filesystem::path path = find_data(name).value();
    if (path.extension() != ".xz") return path;
    const std::filesystem::path unpacked = scratch.path() / path.stem();
    run_program({"xz", "-dc", path.string()}, {}, unpacked);
    return unpacked;
}

inline constexpr const char* GPT2 = "gpt2-bpe/encoder.json";
inline constexpr const char* LLAMA3 = "llama3-bpe/encoder.json.xz";
inline constexpr const char* LLAMA2 = "llama2-sentencepiece/tokenizer.model";

inline constexpr const char* LLAMA3_PATTERN =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S))"
    R"(|\s+)";

inline BpeModel gpt2_model(const Scratch& scratch) {
    return read_gpt2_files(data_file(scratch, GPT2), data_file(scratch, "gpt2-bpe/vocab.bpe"));
}

inline BpeModel llama3_model(const Scratch& scratch) {
    BpeModel model = read_gpt2_files(data_file(scratch, LLAMA3), data_file(scratch, "llama3-bpe/vocab.bpe.xz"));
    model.splits = {{Pattern(LLAMA3_PATTERN, "Llama 3's pattern")}};
    model.whole_words = true;
    for (const char* name : {"<|begin_of_text|>", "<|end_of_text|>"}) {
        const auto token = static_cast<std::int32_t>(model.tokens.size());
        model.tokens.emplace_back(name);
        model.hidden.push_back(token);
        model.added.push_back({name, token});
    }
    model.bounds.begin = 128000;
    return model;
}

}  // namespace vkf::test
