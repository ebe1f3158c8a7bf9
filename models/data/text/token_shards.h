// Token files whose names mark them as shards of a split, as in llm.c, modded-nanogpt and build-nanogpt.
#pragma once

#include <filesystem>
#include <vector>

namespace vkf {

/// The shards of a directory, for each split in the order of their names:
///
///     NAME_train_000001.bin, NAME_train_000002.bin, …    for training
///     NAME_val_000000.bin, …                             for validation
///
/// The ending may also be .npy. A split of a single file may have no number: NAME_train.bin.
struct TokenShards {
    std::vector<std::filesystem::path> train, val;

    bool empty() const { return train.empty() && val.empty(); }
};

/// Finds the shards of a directory. Throws: InputError naming files of two different NAMEs, or the split without
/// shards.
TokenShards find_token_shards(const std::filesystem::path& directory);

/// True if a file is a shard by its name.
bool is_token_shard(const std::filesystem::path& file);

}  // namespace vkf
