#include "models/tokenizers/tokenizer_json/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cctype>

#include "base/error.h"

namespace vkf {
namespace {

std::string reason(int code) {
    unsigned char words[256] = {};
    pcre2_get_error_message(code, words, sizeof words);
    return reinterpret_cast<const char*>(words);
}

// Translates an expression's meaning in Rust's and Python's libraries to PCRE2, whose \s has U+180E, which left
// Unicode's White_Space in 2013; so \s and \S are spelt out. Refuses syntax that the libraries read differently: other
// letters after a backslash, and sets inside sets.
std::string translated(std::string_view expression, const std::string& subject) {
    constexpr std::string_view white_space = "\\t-\\r\\x{85}\\p{Z}", same = "pPdDtnrfx";
    std::string result;
    bool in_set = false;
    for (std::size_t at = 0; at < expression.size(); ++at) {
        const char c = expression[at];
        if (c != '\\' || at + 1 == expression.size()) {
            const bool nested = in_set && (c == '[' || expression.substr(at).starts_with("&&"));
            require(!nested, subject, ": '", expression, "': a set inside […] is not supported");
            in_set = in_set ? c != ']' : c == '[';
            result += c;
            continue;
        }
        const char escaped = expression[++at];
        const bool letter = std::isalnum(static_cast<unsigned char>(escaped)) != 0;
        require(!(escaped == 'S' && in_set), subject, ": '", expression, "': \\S inside […] is not supported");
        if (escaped == 's' && in_set) {
            result += white_space;
        } else if (escaped == 's' || escaped == 'S') {
            result += text(escaped == 's' ? "[" : "[^", white_space, "]");
        } else {
            require(!letter || same.find(escaped) != same.npos, subject, ": '", expression, "': '\\", escaped,
                    "' is not supported");
            result += {c, escaped};
        }
    }
    return result;
}

}  // namespace

Pattern::Pattern(std::string_view expression, const std::string& subject, bool literal)
    : expression_(expression), literal_(literal) {
    require(!expression.empty(), subject, ": is empty, wanted an expression");
    const std::string words = literal ? expression_ : translated(expression, subject);
    const std::uint32_t options = PCRE2_UTF | (literal ? PCRE2_LITERAL : PCRE2_UCP);
    int error = 0;
    PCRE2_SIZE at = 0;
    const auto* units = reinterpret_cast<PCRE2_SPTR>(words.data());
    code_.reset(pcre2_compile(units, words.size(), options, &error, &at, nullptr), pcre2_code_free);
    require(code_ != nullptr, subject, ": '", expression, "': ", error ? reason(error) : "");
    std::uint32_t behind = 0;
    pcre2_pattern_info(code_.get(), PCRE2_INFO_MAXLOOKBEHIND, &behind);
    require(behind == 0, subject, ": '", expression, "' looks behind, which is not supported");
    // If there is no compiler for this processor, matches are interpreted.
    pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
}

Matcher::Matcher(const Pattern& pattern)
    : code_(pattern.code_), data_(pcre2_match_data_create(1, nullptr), pcre2_match_data_free) {}

Matcher::Match Matcher::find(std::string_view text, std::size_t from, bool more) const {
    const std::uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | (more ? PCRE2_PARTIAL_HARD : 0u);
    const auto* units = reinterpret_cast<PCRE2_SPTR>(text.data());
    const int found = pcre2_match(code_.get(), units, text.size(), from, options, data_.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) return {text.size(), text.size(), false};
    if (found < 0 && found != PCRE2_ERROR_PARTIAL) throw Error("matching a tokenizer's pattern: ", reason(found));
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(data_.get());
    return {bounds[0], bounds[1], found != PCRE2_ERROR_PARTIAL};
}

}  // namespace vkf
