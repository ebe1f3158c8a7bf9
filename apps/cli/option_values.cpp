#include "apps/cli/option_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "base/error.h"
#include "base/text/utf8.h"
#include "models/config/field.h"

namespace vkf {

namespace {

/// Number that the whole word spells in plain decimal; "007" is refused, since it could be meant as octal.
template <class T>
std::optional<T> parsed(std::string_view word) {
    const std::string_view digits = word.substr(word.starts_with('-') ? 1 : 0);
    if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return {};
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return {};
    return value;
}

/// Largest number up to which doubles are exact.
constexpr std::int64_t most_counted = std::int64_t{1} << 53;

/// The word, in quotes if it is hard to see.
std::string visible(std::string_view word) {
    const bool plain = !word.empty() && word.find_first_of(" \t\r\n") == std::string_view::npos;
    return plain ? std::string(word) : text('\'', word, '\'');
}

template <class T>
std::string words_of(T value) {
    std::array<char, 64> buffer;
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end};
}

/// Number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + changed});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::int64_t> read_whole(std::string_view word) {
    return parsed<std::int64_t>(word);
}

std::optional<double> read_number(std::string_view word) {
    const std::optional<double> value = parsed<double>(word);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> read_bytes(std::string_view word) {
    using Unit = std::pair<std::string_view, double>;
    constexpr Unit units[] = {{"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
                              {"kB", 1e3},     {"MB", 1e6},        {"GB", 1e9},           {"TB", 1e12}};
    for (const auto& [unit, factor] : units) {
        if (!word.ends_with(unit)) continue;
        word.remove_suffix(unit.size());
        const double bytes = read_number(word).value_or(0) * factor;
        if (!(bytes >= 1) || bytes > static_cast<double>(most_counted)) return {};
        return static_cast<std::int64_t>(bytes);
    }
    return {};
}

std::string shortest(double value) {
    return words_of(value);
}

double widened(float value) {
    return parsed<double>(words_of(value)).value_or(value);
}

cli::Check whole(std::int64_t least, std::int64_t most) {
    return {.name = "number", .complaint = [=](const std::string& word) -> std::string {
                const std::optional<std::int64_t> value = read_whole(word);
                if (value && *value >= least && *value <= most) return {};
                const bool bounded = most < most_counted || (value && *value > most);
                const std::string range = bounded ? text("from ", least, " to ", most) : text("of at least ", least);
                return text("found ", visible(word), ", wanted a whole number ", range);
            }};
}

cli::Check whole(std::int64_t least) {
    return whole(least, most_counted);
}

cli::Check number(const Range& range) {
    return {.name = "number", .complaint = [range](const std::string& word) -> std::string {
                const std::optional<double> value = read_number(word);
                const auto beyond = [](double a, double b, bool equal_too) { return equal_too ? a >= b : a > b; };
                if (value && beyond(*value, range.least, range.least_too) && beyond(range.most, *value, range.most_too))
                    return {};
                const std::string from = text(range.least_too ? "of at least " : "above ", range.least);
                if (range.most == std::numeric_limits<double>::max())
                    return text("found ", visible(word), ", wanted a number ", from);
                return text("found ", visible(word), ", wanted a number ", from, " and ",
                            range.most_too ? "at most " : "below ", range.most);
            }};
}

cli::Check at_least(double least) {
    return number({.least = least, .most = std::numeric_limits<double>::max()});
}

cli::Check one_of(std::vector<std::string> known) {
    return {.complaint = [known = std::move(known)](const std::string& word) -> std::string {
        if (std::ranges::find(known, word) != known.end()) return {};
        return text('\'', word, "' is unknown, wanted ", listed(known), did_you_mean(word, known));
    }};
}

cli::Check byte_size() {
    return {.complaint = [](const std::string& word) -> std::string {
        if (read_bytes(word)) return {};
        return text("found ", visible(word), ", wanted a number and a unit such as MiB, GiB or GB: 24GiB");
    }};
}

cli::Check words() {
    return {.complaint = [](const std::string& word) -> std::string {
        if (word.empty()) return "found '', wanted at least one character";
        return invalid_utf8(word) ? text("found ", visible(word), ", wanted UTF-8") : "";
    }};
}

cli::Check named_path() {
    return {.complaint = [](const std::string& word) -> std::string {
        constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
        const std::size_t end = word.find_first_not_of(letters);
        const bool named = end != std::string::npos && end > 0 && word[end] == '=' && end + 1 < word.size();
        return named && !invalid_utf8(word) ? "" : text("found ", visible(word), ", wanted NAME=PATH");
    }};
}

bool wants_number(const cli::Option& option) {
    return option.has_check("number");
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
    std::string line;
    for (const std::string& word : words) line += text(&word == words.data() ? "" : separator, word);
    return line;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
    std::string nearest;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        const std::size_t longer = std::max(word.size(), candidate.size()),
                          shorter = std::min(word.size(), candidate.size());
        if (longer - shorter >= least) continue;  // at least as far apart
        if (const std::size_t away = distance(word, candidate); away < least && away < candidate.size())
            least = away, nearest = candidate;
    }
    return nearest.empty() ? "" : text("; did you mean ", nearest, '?');
}

}  // namespace vkf
