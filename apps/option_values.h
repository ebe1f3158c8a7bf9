// What options take for a value: numbers and words, read strictly. There is one grammar for the command line and for
// files: decimal numbers, finite, without signs, spaces or leading zeros that mean nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class Option;
class Validator;
}  // namespace CLI

namespace vkf {

/// The number that the whole of a word is, or nothing: also for what is empty, out of range or not finite.
std::optional<std::int64_t> read_whole(std::string_view word);
std::optional<double> read_number(std::string_view word);

/// The shortest words that read back as the number.
std::string shortest(double value);
/// The double whose words are the shortest for the float.
double widened(float value);

/// Numbers between two bounds; whole(least) goes as far as doubles are exact. These validators are called "number".
CLI::Validator whole(std::int64_t least, std::int64_t most);
struct Range {
    double least = 0, most = 0;
    bool least_too = true, most_too = true;  // whether the bounds belong to it
};
CLI::Validator number(const Range& range);
/// One of some words; a misspelt one is told the nearest.
CLI::Validator one_of(std::vector<std::string> words);
/// Not empty, and UTF-8, in which files keep it.
CLI::Validator words();

/// NAME=PATH, the name of letters, digits, '-' and '_'.
CLI::Validator named_path();

/// Whether the option wants a number; whether it is a flag.
bool wants_number(CLI::Option& option);
bool is_flag(const CLI::Option& option);

/// "; did you mean X?" with the nearest of the known words, or "" if none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace vkf
