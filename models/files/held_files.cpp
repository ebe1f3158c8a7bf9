#include "models/files/held_files.h"

#include <algorithm>

#include "base/error.h"
#include "base/files/published.h"
#include "models/data/images/cifar.h"
#include "models/data/text/token_shards.h"
#include "models/files/adapter_files.h"
#include "models/files/manifest.h"
#include "models/files/numbered_checkpoints.h"
#include "models/tokenizers/load_tokenizer.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

using Kind = HeldFile::Kind;

constexpr const char* index_file = "model.safetensors.index.json";

std::vector<HeldFile> names_of_all() {
    std::vector<HeldFile> all;
    for (const char* name : {"optimizer.safetensors", "train.toml", "metrics.jsonl"}) all.push_back({name, Kind::run});
    for (const char* name :
         {"config.json", "model.safetensors", index_file, "preprocessor_config.json", "special_tokens_map.json",
          "generation_config.json", manifest_file, adapter_config_file, adapter_weights_file})
        all.push_back({name, Kind::model});
    for (const char* name :
         {"train.bin", "val.bin", "train.tsv", "val.tsv", "test.tsv", "train.jsonl", "val.jsonl", "test.jsonl"})
        all.push_back({name, Kind::data});
    for (const CifarFormat* format : {&CIFAR10, &CIFAR100}) {
        for (const CifarFile& file : format->files) all.push_back({file.name, Kind::data});
        for (const auto& names : {format->names, format->coarse_names})
            if (!names.empty()) all.push_back({names, Kind::data});
    }
    for (const std::string& name : tokenizer_files()) all.push_back({name, Kind::tokenizer});
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
    std::vector<fs::path> folders{"", "best"};
    for (const fs::path& checkpoint : numbered_checkpoints(directory)) folders.push_back(checkpoint.filename());
    for (const fs::path& folder : folders) {
        const std::vector<fs::path> names = published_names(directory / folder);
        for (const HeldFile& file : names_of_all())
            if (std::ranges::count(names, file.name) > 0) found.push_back({folder / file.name, file.kind});
        const bool sharded = std::ranges::count(names, fs::path(index_file)) > 0;
        for (const fs::path& name : names) {
            if (is_token_shard(name)) found.push_back({folder / name, Kind::data});
            if (sharded && name.extension() == ".safetensors" && name != "model.safetensors")
                found.push_back({folder / name, Kind::model});
        }
    }
    return found;
}

void require_free(const fs::path& directory, bool overwrite, const std::vector<fs::path>& inputs) {
    std::error_code ignored;
    for (const HeldFile& file : held_files(directory)) {
        const fs::path path = directory / file.name;
        const bool empty = fs::file_size(published(path), ignored) == 0;
        require(overwrite || empty, directory.string(), " already holds ", words_for(file.kind), " (",
                file.name.string(), "); --overwrite replaces it",
                file.kind == Kind::run ? ", train --resume continues it" : "");
        for (const fs::path& input : inputs) {
            const bool read = same(path, input) || (file.kind == Kind::data && same(directory, input));
            require(!read, directory.string(), " holds the data to read (", file.name.string(),
                    "), which --overwrite would replace: wanted another directory");
        }
    }
}

ClaimedDirectory claim_directory(const fs::path& directory, bool overwrite, const std::vector<fs::path>& inputs) {
    require_free(directory, overwrite, inputs);  // before anything is written there
    ClaimedDirectory claimed{ManagedDirectory::claim(directory), {}};
    require_free(directory, overwrite, inputs);  // now that no other process writes there
    claimed.directory.settle();
    claimed.directory.settle_in("best");
    for (const fs::path& checkpoint : numbered_checkpoints(directory))
        claimed.directory.settle_in(checkpoint.filename());
    for (const HeldFile& file : held_files(directory))
        if (std::ranges::find(claimed.obsolete, file.name) == claimed.obsolete.end())
            claimed.obsolete.push_back(file.name);
    return claimed;
}

void require_apart(const fs::path& directory, const fs::path& model) {
    for (const HeldFile& file : held_files(directory))
        require(!same((directory / file.name).parent_path(), model), directory.string(), " holds the model ",
                model.string(), ", which is needed on: wanted another directory");
}

}  // namespace vkf
