#include "apps/eval/language_subject.h"

#include <algorithm>

#include "apps/cli/common.h"
#include "base/error.h"
#include "models/language_model.h"
#include "models/masked_language_model.h"

namespace vkf {

namespace {

/// Number of batches of windows that predict every token but the first of `size`.
std::int64_t batches_of_all(std::int64_t size, const TokenWindows& w) {
    const std::int64_t behind_first = std::max<std::int64_t>(size - 1 - w.length, 0);
    const std::int64_t windows = 1 + (behind_first + w.stride - 1) / w.stride;
    return (windows + w.rows - 1) / w.rows;
}

}  // namespace

std::vector<std::int64_t> bytes_of_tokens(const Tokenizer& tokenizer) {
    std::vector<std::int64_t> bytes;
    for (std::size_t token = 0; token < tokenizer.size(); ++token)
        bytes.push_back(std::ssize(tokenizer.bytes(static_cast<std::int32_t>(token))));
    for (const AddedToken& added : tokenizer.added_tokens())
        if (added.special) bytes[static_cast<std::size_t>(added.token)] = 0;
    return bytes;
}

LanguageSubject::LanguageSubject(const Common& common, const EvalOptions& o, const LanguageModel& model)
    : seed_(common.seed) {
    require(o.split == "train" || o.split == "val", "--split test and all is for ", image_task().model, "s; ", o.model,
            " is none");
    if (o.text.empty()) {
        data_.emplace(open_data(model, o.data));
        tokens_ = o.split == "val" ? data_->val() : data_->train();
    } else {
        read_text(o, model);
    }
    choose_windows(o, model);
    objective_ =
        language_objective(model.config, special_tokens(model.tokenizer ? model.tokenizer->tokenizer.get() : nullptr));
    if (!o.predicts_every_token())
        random_.emplace(o.split, tokens_,
                        Batches::Options{Order::random, static_cast<std::size_t>(windows_.rows),
                                         static_cast<std::size_t>(windows_.length), seed_, objective_});
}

void LanguageSubject::read_text(const EvalOptions& o, const LanguageModel& model) {
    require(model.tokenizer.has_value(), "model ", o.model, " has no tokenizer, which --text needs");
    const Tokenizer& tokenizer = **model.tokenizer;
    const std::string words = read_corpus(o.text);
    Tokens tokens;
    try {
        tokens = tokenizer.encode(words, o.parse_special ? SpecialNames::tokens : SpecialNames::text);
    } catch (const InputError& error) {
        throw InputError(o.text, ": ", error.what(), " in ", model.tokenizer->path.string());
    }
    require(!tokens.empty(), "text ", o.text, ": there is no token to start from: ", model.tokenizer->path.string(),
            " leaves nothing of it");
    std::int64_t predicted = std::ssize(words);
    const std::vector<std::int64_t> bytes = bytes_of_tokens(tokenizer);
    const auto stands_for_none = [&](std::int32_t token) { return bytes[static_cast<std::size_t>(token)] == 0; };
    for (const std::int32_t token : tokens)
        if (stands_for_none(token)) predicted -= std::ssize(tokenizer.bytes(token));
    if (const auto begin = tokenizer.begin_of_text())
        tokens.insert(tokens.begin(), *begin);
    else if (!stands_for_none(tokens.front()))
        predicted -= std::ssize(tokenizer.decode(std::span(tokens).first(1)));  // the first token is not predicted
    if (const auto closing = tokenizer.closing_token()) tokens.push_back(*closing);
    require(tokens.size() > 1, "text ", o.text, ": is a single token, wanted one more to predict");
    bytes_ = predicted;
    text_ = packed_tokens(tokens);
    tokens_ = TokenSpan(text_);
}

void LanguageSubject::choose_windows(const EvalOptions& o, const LanguageModel& model) {
    const auto size = static_cast<std::int64_t>(tokens_.size());
    const Size context = model.config.size(Dimension::context);
    windows_ = {o.batch_size ? o.batch_size : 12, o.block_size.value_or(context), 0, 0};
    require(windows_.length <= context, "--block-size is ", windows_.length, ", wanted at most the model's ",
            context.key, " ", context.value);
    require(!o.stride || *o.stride <= windows_.length, "--stride is ", o.stride.value_or(0),
            ", wanted at most the block size ", windows_.length);
    if (!o.text.empty()) windows_.length = std::min(windows_.length, size - 1);
    require(size > windows_.length, "data ", o.data, ": the split '", o.split, "' has ", size,
            " tokens, wanted more than the block size ", windows_.length);
    windows_.stride = std::min(o.stride.value_or(windows_.length), windows_.length);
    windows_.count = o.predicts_every_token() ? batches_of_all(size, windows_) : o.iters.value_or(200);
}

/// Batch of windows that begin every `stride` tokens; every token but the first is predicted exactly once. Tokens that
/// the previous window predicts have no target, and neither have rows past the end and the end of the last window. If
/// words are hidden, every position sees all of its window, and the last window begins so early that it is full.
Batch LanguageSubject::window(std::int64_t number) const {
    const TokenWindows& w = windows_;
    const auto size = static_cast<std::size_t>(w.tokens());
    const std::int64_t last_start = static_cast<std::int64_t>(tokens_.size()) - 1 - w.length;
    std::vector<std::int32_t> read(size), targets(size, -1);
    for (std::int64_t i = 0; i < w.tokens(); ++i) {
        const std::int64_t wanted = (number * w.rows + i / w.length) * w.stride, column = i % w.length;
        const std::int64_t start = hides_words() ? std::min(wanted, last_start) : wanted;
        const auto place = static_cast<std::size_t>(i), at = static_cast<std::size_t>(start + column);
        if (at + 1 >= tokens_.size()) continue;
        read[place] = static_cast<std::int32_t>(tokens_[at]);
        const bool predicted = wanted > 0 && start + column < wanted + w.length - w.stride;
        if (!predicted) targets[place] = static_cast<std::int32_t>(tokens_[at + 1]);
    }
    return {{"tokens", std::move(read)}, {"targets", std::move(targets)}};
}

Batch LanguageSubject::batch(std::int64_t number) const {
    if (random_) return random_->at(static_cast<std::uint64_t>(number));
    Batch made = window(number);
    if (objective_) {
        Random draws(seed_, "objective/all", static_cast<std::uint64_t>(number));
        objective_(made, draws);
    }
    return made;
}

}  // namespace vkf
