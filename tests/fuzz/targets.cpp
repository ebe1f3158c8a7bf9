#include "tests/fuzz/targets.h"

#include <stdlib.h>

#include <fstream>

#include "apps/bench/bench_report.h"
#include "apps/cli/config_file.h"
#include "models/data/text/documents.h"
#include "models/data/text/hellaswag.h"
#include "models/data/text/tokens.h"
#include "models/files/adapter_files.h"
#include "models/files/config_json.h"
#include "models/files/generation_config.h"
#include "models/files/image_processor.h"
#include "models/files/manifest.h"
#include "models/files/stored_weights.h"
#include "models/generation/chat_template.h"
#include "models/images/codecs/decode.h"
#include "models/tokenizers/load_tokenizer.h"
#include "models/tokenizers/sentencepiece/piece_model.h"
#include "tests/fuzz/examples.h"

namespace vkf::fuzz {

namespace fs = std::filesystem;

Folder::Folder() {
    std::string name = (fs::temp_directory_path() / "vkformer-fuzz-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw Error("cannot make ", name);
    path_ = name;
}

Folder::~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path Folder::file(const char* name, std::string_view bytes) const {
    const fs::path path = path_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

std::vector<std::string_view> parts(std::string_view bytes, std::size_t count) {
    std::vector<std::string_view> list;
    while (list.size() + 1 < count) {
        const std::size_t end = std::min(bytes.find('\0'), bytes.size());
        list.push_back(bytes.substr(0, end));
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
    list.push_back(bytes);
    return list;
}

namespace {

void read_all(const StoredWeights& weights) {
    for (const StoredTensor* tensor : weights.tensors()) weights.read_f32(tensor->name);
}

void weights(const Folder& in, std::string_view bytes) {
    read_all(StoredWeights::open(in.file("model.safetensors", bytes)));
}

void weights_index(const Folder& in, std::string_view bytes) {
    const auto files = parts(bytes, 2);
    in.file("model.safetensors.index.json", files[0]);
    in.file("model-00001-of-00001.safetensors", files[1]);
    read_all(StoredWeights::open(in.path() / "model.safetensors"));
}

void config_json(const Folder&, std::string_view bytes) {
    config_json_text(parse_config_json(bytes, "config.json"));
}

void generation_config(const Folder& in, std::string_view bytes) {
    const auto files = parts(bytes, 2);
    in.file("generation_config.json", files[0]);
    in.file("config.json", files[1]);
    read_generation_config(in.path());
    generation_config_text(in.path());
}

void adapter_config(const Folder& in, std::string_view bytes) {
    read_adapter_config(in.file("adapter_config.json", bytes));
}

void image_processor(const Folder& in, std::string_view bytes) {
    const auto files = parts(bytes, 2);  // the second is read if the first is empty
    fs::remove(in.path() / image_processor_file);
    if (!files[0].empty()) in.file(image_processor_file, files[0]);
    in.file("config.json", files[1]);
    find_image_processor(in.path(), 32);
}

void manifest(const Folder& in, std::string_view bytes) {
    in.file("manifest.json", bytes);
    read_manifest(in.path());
}

/// Encodes and decodes texts with a tokenizer; some texts name its tokens.
void use(const SavedTokenizer& tokenizer) {
    for (const char* sample : {"Hello,  world! 1234\r\n\n\tna\xc3\xafve \xe4\xbd\xa0", "<s>hello</s><|endoftext|>"})
        for (const SpecialNames names : {SpecialNames::text, SpecialNames::tokens})
            tokenizer->decode(tokenizer->encode(sample, names));
}

void tokenizer_json(const Folder& in, std::string_view bytes) {
    use(load_tokenizer(in.file("tokenizer.json", bytes)));
}

void gpt2_tokenizer(const Folder& in, std::string_view bytes) {
    const auto files = parts(bytes, 5);
    in.file("vocab.json", files[0]);
    in.file("merges.txt", files[1]);
    in.file("tokenizer_config.json", files[2]);
    in.file("special_tokens_map.json", files[3]);
    in.file("added_tokens.json", files[4]);
    use(load_tokenizer(in.path()));
}

void sentencepiece(const Folder& in, std::string_view bytes) {
    try {
        const PieceModel model(bytes, "source.spm");
        for (const char* sample : {"Hello,  world! \xef\xac\x81 \xe2\x91\xa0\xe3\x80\x80na\xc3\xafve", "s\xff t"})
            for (const std::string& piece : model.cut(sample)) model.bytes(piece);
    } catch (const InputError&) {
        // A tokenizer.model may leave texts as they are.
    }
    use(load_tokenizer(in.file("tokenizer.model", bytes)));
}

void subword_nmt(const Folder& in, std::string_view bytes) {
    use(load_tokenizer(in.file("bpe.codes", bytes)));
}

void vocab_txt(const Folder& in, std::string_view bytes) {
    use(load_tokenizer(in.file("vocab.txt", bytes)));
}

void characters(const Folder& in, std::string_view bytes) {
    use(load_tokenizer(in.file("chars.json", bytes)));
}

void chat_template(const Folder& in, std::string_view bytes) {
    const auto files = parts(bytes, 2);
    in.file("chat_template.jinja", files[0]);
    in.file("tokenizer_config.json", files[1]);
    recognised_chat_template(in.path());
}

void tokens(const Folder& in, std::string_view bytes) {
    greatest_token(TokenFile(in.file("tokens.bin", bytes)).tokens());
}

void npy(const Folder& in, std::string_view bytes) {
    greatest_token(TokenFile(in.file("tokens.npy", bytes)).tokens());
}

void picture(const Folder&, std::string_view bytes) {
    decode_picture(std::as_bytes(std::span(bytes)), "picture", {.pixels = 1 << 20, .side = 1 << 14});
}

void documents(const Folder& in, std::string_view bytes) {
    for (const char* name : {"a.txt", "a.jsonl", "a.json"}) try {
            Documents list({{in.file(name, bytes), bytes.size()}}, "text");
            while (list.next())
                while (!list.read(7).empty()) list.where();
        } catch (const InputError&) {
            // Other parts may be valid.
        }
}

void hellaswag(const Folder& in, std::string_view bytes) {
    for (const char* name : {"a.txt", "a.jsonl"}) try {
            read_hellaswag(in.file(name, bytes));
        } catch (const InputError&) {
            // The other format may be valid.
        }
}

void toml(const Folder& in, std::string_view bytes) {
    for (const ConfigEntry& entry : read_config(in.file("options.toml", bytes))) toml_line(entry.key, entry.value);
}

void report(const Folder& in, std::string_view bytes) {
    rows_of(read_report(in.file("report.json", bytes)));
}

}  // namespace

const std::vector<Target>& targets() {
    static const std::vector<Target> list{
        {"adapter_config", adapter_config, example::adapter_config},
        {"characters", characters, example::characters},
        {"chat_template", chat_template, example::chat_template},
        {"config_json", config_json, example::config_json},
        {"documents", documents, example::documents},
        {"generation_config", generation_config, example::generation_config},
        {"gpt2_tokenizer", gpt2_tokenizer, example::gpt2_tokenizer},
        {"hellaswag", hellaswag, example::hellaswag},
        {"image_processor", image_processor, example::image_processor},
        {"manifest", manifest, example::manifest},
        {"npy", npy, example::npy},
        {"picture", picture, example::picture},
        {"report", report, example::report},
        {"sentencepiece", sentencepiece, example::sentencepiece},
        {"subword_nmt", subword_nmt, example::subword_nmt},
        {"tokenizer_json", tokenizer_json, example::tokenizer_json},
        {"tokens", tokens, example::tokens},
        {"toml", toml, example::toml},
        {"vocab_txt", vocab_txt, example::vocab_txt},
        {"weights", weights, example::weights},
        {"weights_index", weights_index, example::weights_index},
    };
    return list;
}

}  // namespace vkf::fuzz
