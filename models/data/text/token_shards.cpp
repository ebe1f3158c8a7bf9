#include "models/data/text/token_shards.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files/published.h"
#include "models/data/text/tokens.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

/// Parts of a shard's name.
struct ShardName {
    std::string set;
    bool validation;
};

std::optional<ShardName> shard_name(const fs::path& file) {
    if (!has_token_extension(file)) return {};
    std::string name = file.stem().string();
    const std::size_t number = name.find_last_not_of("0123456789") + 1;
    if (number > 0 && number < name.size() && name[number - 1] == '_') name.resize(number - 1);
    for (const bool validation : {false, true}) {
        const std::string_view split = validation ? "_val" : "_train";
        if (name.size() > split.size() && name.ends_with(split))
            return ShardName{name.substr(0, name.size() - split.size()), validation};
    }
    return {};
}

}  // namespace

bool is_token_shard(const fs::path& file) {
    return shard_name(file).has_value();
}

TokenShards find_token_shards(const fs::path& directory) {
    std::vector<fs::path> files;
    for (const fs::path& name : published_names(directory))
        if (is_token_shard(name)) files.push_back(directory / name);
    if (files.empty()) return {};
    TokenShards shards;
    for (const fs::path& file : files) {
        const ShardName name = *shard_name(file), first = *shard_name(files.front());
        require(name.set == first.set, file.string(), ": is a shard of ", name.set, ", and ",
                files.front().filename().string(), " of ", first.set, ": wanted one data set in a directory");
        (name.validation ? shards.val : shards.train).push_back(file);
    }
    for (const bool validation : {false, true})
        require(!(validation ? shards.val : shards.train).empty(), directory.string(), ": has ",
                files.front().filename().string(), ", but no shard for ", validation ? "validation" : "training",
                ", wanted NAME_", validation ? "val" : "train", "_*", files.front().extension().string(), " beside it");
    return shards;
}

TokenShardWriter::TokenShardWriter(std::function<std::filesystem::path(std::uint64_t)> path_of, const Options& options)
    : path_of_(std::move(path_of)), options_(options) {}

void TokenShardWriter::append(std::span<const std::int32_t> tokens) {
    while (!tokens.empty()) {
        if (file_ && file_->count() == options_.tokens) {
            file_->finish();
            file_.reset();
        }
        if (!file_) file_.emplace(path_of_(files_++), options_.vocabulary_size, options_.headed);
        const std::uint64_t room = options_.tokens - file_->count();
        const auto fits = static_cast<std::size_t>(std::min<std::uint64_t>(room, tokens.size()));
        file_->append(tokens.first(fits));
        count_ += fits;
        tokens = tokens.subspan(fits);
    }
}

void TokenShardWriter::finish() {
    if (file_) file_->finish();
    file_.reset();
}

}  // namespace vkf
