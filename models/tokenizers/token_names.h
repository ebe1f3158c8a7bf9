// Tokens of a vocabulary by the names in its file, and merges of these names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/tokenizers/bpe/merges.h"

namespace vkf {

/// Names and their numbers, which must be 0, 1, 2, … without a gap when all names are added.
class TokenNames {
public:
    /// `subject` begins messages: the file and the key of the names.
    /// Throws: InputError unless `tree` is an object whose values are numbers of tokens.
    TokenNames(const nlohmann::json& tree, std::string subject);

    /// Adds a name; if it is already there, it must have the same number. `where` begins messages.
    void add(const std::string& name, std::int64_t token, const std::function<std::string()>& where);
    std::optional<std::int32_t> find(const std::string& name) const;

    /// All names by number. Throws: InputError naming a number that two names have, or that no name has.
    std::vector<std::string> by_number() const;

private:
    std::string subject_;
    std::unordered_map<std::string, std::int32_t> number_of_;
};

/// Merges of names, in the order of their ranks.
class MergeReader {
public:
    /// `where` returns the position of merge i, for messages.
    MergeReader(const TokenNames& names, std::function<std::string(std::size_t)> where)
        : names_(names), where_(std::move(where)) {}

    /// Adds the next merge. Throws: InputError if one of the two names, or both together, is no token, or if the two
    /// have been merged before.
    void add(const std::string& left, const std::string& right);

    std::vector<Merge> merges;

private:
    const TokenNames& names_;
    std::function<std::string(std::size_t)> where_;
    std::unordered_set<std::uint64_t> pairs_;
};

}  // namespace vkf
