#include "models/tokenizers/token_names.h"

#include <limits>

#include "base/error.h"
#include "base/json.h"

namespace vkf {
namespace {

using nlohmann::json;

std::string shown(const std::string& name) {
    return one_line(json(name));
}

}  // namespace

TokenNames::TokenNames(const json& tree, std::string subject) : subject_(std::move(subject)) {
    require(tree.is_object() && !tree.empty(), subject_, ": found ", one_line(tree),
            ", wanted an object of tokens and their numbers");
    number_of_.reserve(tree.size());
    for (const auto& [name, number] : tree.items()) {
        const std::string where = text(subject_, ": ", shown(name));
        require(number.is_number_integer(), where, " is ", one_line(number), ", wanted the number of a token");
        add(name, number.get<std::int64_t>(), where);
    }
}

void TokenNames::add(const std::string& name, std::int64_t token, const std::string& where) {
    const bool fits = token >= 0 && token < std::numeric_limits<std::int32_t>::max();
    require(fits, where, " is ", token, ", wanted the number of a token");
    const auto [entry, added] = number_of_.try_emplace(name, static_cast<std::int32_t>(token));
    require(added || entry->second == token, where, " is ", token, ", wanted ", entry->second, " as in ", subject_);
}

std::optional<std::int32_t> TokenNames::find(const std::string& name) const {
    const auto found = number_of_.find(name);
    return found == number_of_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> TokenNames::by_number() const {
    std::vector<const std::string*> found(number_of_.size());
    const std::string* beyond = nullptr;
    for (const auto& [name, token] : number_of_) {
        if (static_cast<std::size_t>(token) >= found.size()) {
            beyond = &name;
            continue;
        }
        const std::string*& place = found[static_cast<std::size_t>(token)];
        require(!place, subject_, ": ", place ? shown(*place) : "", " and ", shown(name), " are both ", token,
                ", wanted a number for each");
        place = &name;
    }
    std::vector<std::string> names;
    for (const std::string* name : found) {
        require(name, subject_, ": no token is ", names.size(), ", but ", beyond ? shown(*beyond) : "", " is ",
                beyond ? number_of_.at(*beyond) : 0, "; wanted 0 to ", found.size() - 1, " for ", found.size(),
                " tokens");
        names.push_back(*name);
    }
    return names;
}

void MergeReader::add(const std::string& left, const std::string& right, const std::string& where) {
    const auto number = [&](const std::string& name) {
        const auto token = names_.find(name);
        require(token.has_value(), where, " merges ", shown(left), " and ", shown(right), ", but ", shown(name),
                " is not in the vocabulary");
        return token.value_or(0);
    };
    const Merge merge{number(left), number(right), number(left + right)};
    const auto pair =
        std::uint64_t{static_cast<std::uint32_t>(merge.left)} << 32 | static_cast<std::uint32_t>(merge.right);
    require(pairs_.insert(pair).second, where, " merges ", shown(left), " and ", shown(right), " a second time");
    merges.push_back(merge);
}

}  // namespace vkf
