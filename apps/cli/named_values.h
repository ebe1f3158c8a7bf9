// Options whose words stand for values, listed as pairs of both.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace vkf {

/// Value of a name in the list. Throws InputError naming the option, the word and the known names.
template <class T, std::size_t N>
const T& named(const char* option, const std::string& word, const std::pair<const char*, T> (&list)[N]) {
    std::string known;
    for (const auto& [name, value] : list) {
        if (word == name) return value;
        known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw InputError(option, " is '", word, "'; there are: ", known);
}

template <class T, std::size_t N>
std::vector<std::string> names_of(const std::pair<const char*, T> (&list)[N]) {
    std::vector<std::string> names;
    for (const auto& [name, value] : list) names.emplace_back(name);
    return names;
}

}  // namespace vkf
