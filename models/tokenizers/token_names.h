// The tokens of a vocabulary as its file names them, and the merges of these names.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/tokenizers/merges.h"

namespace vkf {

/// Names and their numbers, which must be 0, 1, 2, … without a gap when all are there.
class TokenNames {
public:
    /// `subject` begins messages: the file and the key that the names stand under.
    /// Throws: InputError unless `tree` is an object whose values are numbers of tokens.
    TokenNames(const nlohmann::json& tree, std::string subject);

    /// One more; a name that is there must have the same number.
    void add(const std::string& name, std::int64_t token, const std::string& where);
    std::optional<std::int32_t> find(const std::string& name) const;

    /// All names by number. Throws: InputError naming a number that two names have, or that none has.
    std::vector<std::string> by_number() const;

private:
    std::string subject_;
    std::unordered_map<std::string, std::int32_t> number_of_;
};

/// Merges of names, in the order of their ranks.
class MergeReader {
public:
    explicit MergeReader(const TokenNames& names) : names_(names) {}

    /// Throws: InputError beginning with `where`, if one of the two or what they make together is no token, or the two
    /// have been merged before.
    void add(const std::string& left, const std::string& right, const std::string& where);

    std::vector<Merge> merges;

private:
    const TokenNames& names_;
    std::unordered_set<std::uint64_t> pairs_;
};

}  // namespace vkf
