// Values of options: numbers and words, read strictly. The command line and files have one grammar: decimal numbers,
// finite, without meaningless signs, spaces or leading zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vkf::cli {
class Option;
struct Check;
}  // namespace vkf::cli

namespace vkf {

/// Number that the whole word spells; nothing if there is none, also if the word is empty, out of range or not finite.
std::optional<std::int64_t> read_whole(std::string_view word);
std::optional<double> read_number(std::string_view word);

/// Bytes that a word such as "24GiB" or "1.5GB" spells, with a unit of kB, MB, GB or TB, or of KiB, MiB, GiB or TiB;
/// nothing if it spells none, or less than one byte.
std::optional<std::int64_t> read_bytes(std::string_view word);

/// Shortest text that reads back as the number.
std::string shortest(double value);
/// Double whose shortest text is also the float's.
double widened(float value);

/// Checks, called "number", for numbers between two bounds; whole(least) goes as far as doubles are exact.
cli::Check whole(std::int64_t least, std::int64_t most);
struct Range {
    double least = 0, most = 0;
    bool least_too = true, most_too = true;  // true if the bound is included
};
cli::Check number(const Range& range);
/// Check for one of some words; the message about a misspelt word names the nearest.
cli::Check one_of(std::vector<std::string> words);
/// Check for words that read_bytes() reads.
cli::Check byte_size();
/// Check for text that is not empty and is UTF-8, the encoding of files that keep it.
cli::Check words();

/// Check for NAME=PATH; the name has letters, digits, '-' and '_'.
cli::Check named_path();

/// True if the option takes a number.
bool wants_number(const cli::Option& option);

/// The words with the separator between them.
std::string joined(std::span<const std::string> words, std::string_view separator);

/// "; did you mean X?" with the nearest of the known words, or "" if none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace vkf
