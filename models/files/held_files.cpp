#include "models/files/held_files.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "models/data/cifar.h"
#include "models/data/token_shards.h"
#include "models/files/adapter_files.h"
#include "models/files/numbered_checkpoints.h"
#include "models/tokenizers/load_tokenizer.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

using Kind = HeldFile::Kind;

std::vector<HeldFile> names_of_all() {
    std::vector<HeldFile> all;
    for (const char* name : {"optimizer.safetensors", "train.toml", "metrics.jsonl"}) all.push_back({name, Kind::run});
    for (const char* name :
         {"config.json", "model.safetensors", "model.safetensors.index.json", "preprocessor_config.json",
          "special_tokens_map.json", "generation_config.json", adapter_config_file, adapter_weights_file})
        all.push_back({name, Kind::model});
    for (const char* name : {"train.bin", "val.bin"}) all.push_back({name, Kind::data});
    for (const CifarFormat* format : {&CIFAR10, &CIFAR100}) {
        for (const CifarFile& file : format->files) all.push_back({file.name, Kind::data});
        for (const auto& names : {format->names, format->coarse_names})
            if (!names.empty()) all.push_back({names, Kind::data});
    }
    for (const std::string_view name : tokenizer_files()) all.push_back({name, Kind::tokenizer});
    return all;
}

const char* words_for(Kind kind) {
    switch (kind) {
        case Kind::run:
            return "a run";
        case Kind::model:
            return "a model";
        case Kind::data:
            return "data";
        case Kind::tokenizer:
            return "a tokenizer";
    }
    return "";
}

bool same(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
}

}  // namespace

std::vector<HeldFile> held_files(const fs::path& directory) {
    std::vector<HeldFile> found;
    std::error_code ignored;
    std::vector<fs::path> folders{"", "best"};
    for (const fs::path& checkpoint : numbered_checkpoints(directory)) folders.push_back(checkpoint.filename());
    for (const fs::path& folder : folders) {
        settle_files(directory / folder);
        for (const HeldFile& file : names_of_all())
            if (fs::is_regular_file(directory / folder / file.name, ignored))
                found.push_back({folder / file.name, file.kind});
        for (const fs::directory_entry& entry : fs::directory_iterator(directory / folder, ignored))
            if (is_token_shard(entry.path())) found.push_back({folder / entry.path().filename(), Kind::data});
    }
    return found;
}

std::vector<fs::path> claim_directory(const fs::path& directory, bool overwrite, const fs::path& input) {
    std::vector<fs::path> names;
    std::error_code ignored;
    for (const HeldFile& file : held_files(directory)) {
        const fs::path path = directory / file.name;
        const bool empty = fs::file_size(path, ignored) == 0;
        require(overwrite || empty, directory.string(), " already holds ", words_for(file.kind), " (",
                file.name.string(), "); --overwrite replaces it",
                file.kind == Kind::run ? ", train --resume continues it" : "");
        const bool read = same(path, input) || (file.kind == Kind::data && same(directory, input));
        require(!read, directory.string(), " holds the data to read (", file.name.string(),
                "), which --overwrite would replace: wanted another directory");
        if (std::ranges::find(names, file.name) == names.end()) names.push_back(file.name);
    }
    return names;
}

void require_apart(const fs::path& directory, const fs::path& model) {
    for (const HeldFile& file : held_files(directory))
        require(!same((directory / file.name).parent_path(), model), directory.string(), " holds the model ",
                model.string(), ", which is needed on: wanted another directory");
}

}  // namespace vkf
