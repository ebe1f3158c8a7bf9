// Tensors of a model's directory, in one file or in several that an index names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/safetensors.h"

namespace vkf {

/// model.safetensors or, if it is missing, the shards that model.safetensors.index.json names; its "weight_map" has the
/// shard of each tensor, as Hugging Face's programs write it.
class StoredWeights {
public:
    /// Throws InputError if the file is broken, or naming the index and a shard that is missing, a tensor that a shard
    /// lacks, or a tensor that two shards have, or pytorch_model.bin if the directory has only that.
    static StoredWeights open(const std::filesystem::path& file);

    /// The file or the index.
    const std::filesystem::path& path() const { return path_; }
    /// All tensors, in the order of the files.
    std::vector<const StoredTensor*> tensors() const;
    bool contains(std::string_view name) const { return shard_of_.contains(name); }
    const StoredTensor& at(std::string_view name) const { return shard(name).at(name); }
    std::vector<float> read_f32(std::string_view name) const { return shard(name).read_f32(name); }

private:
    const Safetensors& shard(std::string_view name) const { return shards_[shard_of_.find(name)->second]; }
    void add(Safetensors shard);

    std::filesystem::path path_;
    std::vector<Safetensors> shards_;
    std::map<std::string, std::size_t, std::less<>> shard_of_;
};

}  // namespace vkf
