// Token files whose names mark them as shards of a split, as in llm.c, modded-nanogpt and build-nanogpt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "models/data/text/tokens.h"

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

/// Tokens in files of a certain size, one after the other; as TokenWriter, the files are not valid until finish().
class TokenShardWriter {
public:
    struct Options {
        std::size_t vocabulary_size = 0;
        std::uint64_t tokens = std::numeric_limits<std::uint64_t>::max();  // of a file; the last has fewer
        bool headed = false;                                               // with llm.c's header
    };
    /// `path_of` returns the path of file 0, 1, …. A file is made when its first token comes.
    TokenShardWriter(std::function<std::filesystem::path(std::uint64_t number)> path_of, const Options& options);

    void append(std::span<const std::int32_t> tokens);
    void finish();
    std::uint64_t count() const { return count_; }
    std::uint64_t files() const { return files_; }

private:
    std::function<std::filesystem::path(std::uint64_t)> path_of_;
    Options options_;
    std::optional<TokenWriter> file_;
    std::uint64_t count_ = 0, files_ = 0;
};

}  // namespace vkf
