#include "models/files/stored_weights.h"

#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/published.h"
#include "models/files/config_keys.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

/// Name of each tensor's file. The files must be in the directory of the index.
std::map<std::string, std::string> read_weight_map(const fs::path& index) {
    const ConfigKeys keys = ConfigKeys::open(index);
    require(keys.has("weight_map"), index.string(), ": key 'weight_map' is missing");
    const ConfigKeys map = keys.inner("weight_map");
    std::map<std::string, std::string> shards;
    for (const std::string& name : map.names()) {
        std::string shard = map.word(name, "");
        require(!shard.empty() && fs::path(shard).filename() == shard, map.where(), ": '", name, "' is '", shard,
                "', wanted the name of a file beside it");
        shards.emplace(name, std::move(shard));
    }
    return shards;
}

/// Throws InputError if the directory has weights only in the form of Python's pickle, which may run any program.
void require_unpickled(const fs::path& file, const fs::path& index) {
    if (file_exists(file) || file_exists(index)) return;
    for (const char* name : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
        const fs::path pickled = file.parent_path() / name;
        require(!file_exists(pickled), pickled.string(),
                ": pickled weights are not read, because they can run programs; ", "wanted ", file.filename().string(),
                ", which save_pretrained(DIR, safe_serialization=True) of Hugging Face's library writes");
    }
}

}  // namespace

StoredWeights StoredWeights::open(const fs::path& file) {
    StoredWeights made;
    const fs::path index = file.string() + ".index.json";
    require_unpickled(file, index);
    if (file_exists(file) || !file_exists(index)) {
        made.path_ = file;
        made.add(Safetensors::open(file));
        return made;
    }
    made.path_ = index;
    const std::map<std::string, std::string> shard_of = read_weight_map(index);
    std::set<std::string> shards;
    for (const auto& [name, shard] : shard_of) shards.insert(shard);
    for (const std::string& shard : shards)
        require(file_exists(index.parent_path() / shard), index.string(), ": ", shard, " is missing, wanted all ",
                shards.size(), " of its files");
    for (const std::string& shard : shards) made.add(Safetensors::open(index.parent_path() / shard));
    for (const auto& [name, shard] : shard_of)
        require(made.contains(name) && made.shard(name).path().filename() == shard, index.string(), ": tensor ", name,
                " is not in ", shard);
    return made;
}

void StoredWeights::add(Safetensors shard) {
    for (const StoredTensor& tensor : shard.tensors()) {
        const auto [other, fresh] = shard_of_.emplace(tensor.name, shards_.size());
        if (fresh) continue;
        const auto name_of = [](const Safetensors& file) { return file.path().filename().string(); };
        throw InputError(path_.string(), ": tensor ", tensor.name, " is in ", name_of(shards_[other->second]),
                         " and in ", name_of(shard));
    }
    shards_.push_back(std::move(shard));
}

std::vector<const StoredTensor*> StoredWeights::tensors() const {
    std::vector<const StoredTensor*> all;
    for (const Safetensors& shard : shards_)
        for (const StoredTensor& tensor : shard.tensors()) all.push_back(&tensor);
    return all;
}

}  // namespace vkf
