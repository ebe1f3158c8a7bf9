// Token files whose names say that they are shards of a split, as those of llm.c, modded-nanogpt and build-nanogpt do.
#pragma once

#include <filesystem>
#include <vector>

namespace vkf {

/// The shards of a directory, each split's in order of their names:
///
///     NAME_train_000001.bin, NAME_train_000002.bin, …    to train on
///     NAME_val_000000.bin, …                             for validation
///
/// They may be called .npy, too. A split that is a single file may also be without number, NAME_train.bin.
struct TokenShards {
    std::vector<std::filesystem::path> train, val;

    bool empty() const { return train.empty() && val.empty(); }
};

/// Throws: InputError naming files of two different NAMEs, or the split of which there is none.
TokenShards find_token_shards(const std::filesystem::path& directory);

/// Whether a file is a shard by its name.
bool is_token_shard(const std::filesystem::path& file);

}  // namespace vkf
