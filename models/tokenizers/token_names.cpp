#include "models/tokenizers/token_names.h"

#include <limits>

#include "base/error.h"
#include "base/text/json.h"

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
        const auto where = [&, &name = name] { return text(subject_, ": ", shown(name)); };
        if (!number.is_number_integer()) {
            throw InputError(where(), " is ", one_line(number), ", wanted the number of a token");
        }
        add(name, number.get<std::int64_t>(), where);
    }
}

void TokenNames::add(const std::string& name, std::int64_t token, const std::function<std::string()>& where) {
    const bool fits = token >= 0 && token < std::numeric_limits<std::int32_t>::max();
    if (!fits) throw InputError(where(), " is ", token, ", wanted the number of a token");
    const auto [entry, added] = number_of_.try_emplace(name, static_cast<std::int32_t>(token));
    if (!added && entry->second != token) {
        throw InputError(where(), " is ", token, ", wanted ", entry->second, " as in ", subject_);
    }
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
        if (place) {
            throw InputError(subject_, ": ", shown(*place), " and ", shown(name), " are both ", token,
                             ", wanted a number for each");
        }
        place = &name;
    }
    std::vector<std::string> names;
    for (const std::string* name : found) {
        if (!name) {  // as many numbers as names: one of them is too high
            throw InputError(subject_, ": no token is ", names.size(), ", but ", shown(*beyond), " is ",
                             number_of_.at(*beyond), "; wanted 0 to ", found.size() - 1, " for ", found.size(),
                             " tokens");
        }
        names.push_back(*name);
    }
    return names;
}

void MergeReader::add(const std::string& left, const std::string& right) {
    const auto complain = [&](const auto&... words) {
        throw InputError(where_(merges.size()), " merges ", shown(left), " and ", shown(right), words...);
    };
    const auto number = [&](const std::string& name) {
        const auto token = names_.find(name);
        if (!token) complain(", but ", shown(name), " is not in the vocabulary");
        return token.value_or(0);
    };
    const Merge merge{number(left), number(right), number(left + right)};
    const auto high = static_cast<std::uint32_t>(merge.left), low = static_cast<std::uint32_t>(merge.right);
    if (!pairs_.insert(std::uint64_t{high} << 32 | low).second) complain(" a second time");
    merges.push_back(merge);
}

}  // namespace vkf
