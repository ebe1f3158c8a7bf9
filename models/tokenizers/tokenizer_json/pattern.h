// Regular expressions over Unicode text, by PCRE2.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace vkf {

/// A compiled expression; \s is Unicode's White_Space, as in Rust and Python, and no match is empty.
class Pattern {
public:
    /// `literal` takes the expression as the text itself.
    /// Throws: InputError that begins with `subject` and says what is wrong with the expression; also for an expression
    /// that looks behind, whose matches would depend on earlier text.
    Pattern(std::string_view expression, const std::string& subject, bool literal = false);

    const std::string& expression() const { return expression_; }
    bool literal() const { return literal_; }

private:
    friend class Matcher;
    std::string expression_;
    bool literal_;
    std::shared_ptr<pcre2_real_code_8> code_;
};

/// Finds a pattern's matches; each thread needs its own. The pattern need not outlive it.
class Matcher {
public:
    explicit Matcher(const Pattern& pattern);

    /// The first match from byte `from` of a UTF-8 text on. With `more`, further text follows: `whole` is false if that
    /// text may change the match that begins at `begin`, or if there is none so far (begin = text.size()). Without
    /// `more`, `whole` is false if there is no further match.
    struct Match {
        std::size_t begin, end;
        bool whole;
    };
    Match find(std::string_view text, std::size_t from, bool more) const;

private:
    std::shared_ptr<pcre2_real_code_8> code_;
    std::shared_ptr<pcre2_real_match_data_8> data_;
};

}  // namespace vkf
