#include "models/generation/conversation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace vkf {

namespace {

void append(Tokens& tokens, const Tokens& more) {
    tokens.insert(tokens.end(), more.begin(), more.end());
}

}  // namespace

Conversation::Conversation(Generator& generator, const ChatTemplate& format, const Tokenizer& tokenizer,
                           std::string system, ContinuationOptions options)
    : generator_(generator),
      format_(format),
      tokenizer_(tokenizer),
      system_(std::move(system)),
      options_(std::move(options)) {
    append(options_.end_tokens, format.end_tokens());
}

/// Tokens of the conversation up to an unanswered message, without the oldest turns.
Tokens Conversation::without(std::size_t left_out, const std::string& message) const {
    Tokens tokens;
    const auto say = [&](const std::string& words) {
        append(tokens, tokens.empty() ? format_.first_turn(system_, words) : format_.next_turn(words));
    };
    for (std::size_t i = left_out; i < turns_.size(); ++i) {
        say(turns_[i].message);
        append(tokens, turns_[i].answer);
    }
    say(message);
    return tokens;
}

std::size_t Conversation::listen(const std::string& message) {
    const std::int64_t context = generator_.context_length();
    const std::int64_t room = std::min(options_.max_new_tokens, context / 2);
    if (!turns_.empty()) {
        Tokens fresh = unread_;
        append(fresh, format_.next_turn(message));
        if (std::ssize(generator_.context()) + std::ssize(fresh) + room <= context) {
            logits_ = generator_.extend(fresh);
            message_ = message;
            return 0;
        }
    }
    for (std::size_t left_out = turns_.empty() ? 0 : 1;; ++left_out) {
        const Tokens tokens = without(left_out, message);
        const bool all = left_out == turns_.size();
        require(!all || std::ssize(tokens) <= context, "the message takes ", tokens.size(),
                " tokens, and the context has ", context);
        if (!all && std::ssize(tokens) + room > context) continue;
        turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(left_out));
        logits_ = generator_.prefill(tokens);
        message_ = message;
        return left_out;
    }
}

Continuation Conversation::answer(Random random, const std::function<bool(const std::string&)>& show) {
    Continuation answer(options_, &tokenizer_, generator_.context(), random);
    answer.take_shown();  // discards the text of the prompt
    answer.advance(logits_);
    std::ptrdiff_t read = 0;
    while (show(answer.take_shown()) && !answer.finished()) {
        if (std::ssize(generator_.context()) == generator_.context_length()) {
            answer.interrupt("context");
            continue;
        }
        const NextToken next{
            .row = 0, .token = answer.tokens().back(), .how = answer.next_row(), .seen = answer.seen()};
        answer.accept(generator_.decode(std::array{next}).front());
        ++read;
    }
    answer.interrupt();
    show(answer.take_shown());
    unread_.assign(answer.tokens().begin() + read, answer.tokens().end());
    turns_.push_back({message_, answer.tokens()});
    return answer;
}

}  // namespace vkf
