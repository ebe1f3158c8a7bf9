#include "models/generation/batch_generation.h"

#include <chrono>
#include <optional>
#include <vector>

namespace vkf {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Rows of a generator and the texts that are written in them.
class Rows {
public:
    explicit Rows(Generator& generator) : generator_(generator), texts_(static_cast<std::size_t>(generator.rows())) {}

    /// A row without an unfinished text; nothing if there is none.
    std::optional<std::int64_t> free() const {
        for (std::size_t row = 0; row < texts_.size(); ++row)
            if (!texts_[row] || texts_[row]->finished()) return static_cast<std::int64_t>(row);
        return {};
    }

    void begin(Continuation& text, std::int64_t row, GenerationTimes& times) {
        texts_[static_cast<std::size_t>(row)] = &text;
        const auto start = Clock::now();
        const bool read = !text.prompt().empty() && generator_.prefilled() == text.prompt();
        const std::vector<float> logits =
            read ? generator_.repeat_prefill(row) : generator_.prefill(text.prompt(), row);
        times.read += read ? 0 : std::ssize(generator_.context(row));
        times.reading += seconds_since(start);
        ++times.begun;
        accept(text, sample_token(logits, text.next_row(), text.seen()), times);
    }

    /// Adds a token to every unfinished text; false if all texts are finished.
    bool decode(GenerationTimes& times) {
        std::vector<NextToken> next;
        for (std::size_t row = 0; row < texts_.size(); ++row)
            if (Continuation* text = texts_[row]; text && !text->finished())
                next.push_back({static_cast<std::int64_t>(row), text->tokens().back(), text->next_row(), text->seen()});
        if (next.empty()) return false;
        const auto start = Clock::now();
        const std::vector<SampledToken> drawn = generator_.decode(next);
        times.writing += seconds_since(start);
        for (std::size_t i = 0; i < next.size(); ++i)
            accept(*texts_[static_cast<std::size_t>(next[i].row)], drawn[i], times);
        return true;
    }

private:
    static void accept(Continuation& text, const SampledToken& drawn, GenerationTimes& times) {
        const auto start = Clock::now();
        const std::int64_t before = std::ssize(text.tokens());
        text.accept(drawn);
        times.written += std::ssize(text.tokens()) - before;
        times.finished += text.finished() ? 1 : 0;
        times.writing += seconds_since(start);
    }

    Generator& generator_;
    std::vector<Continuation*> texts_;  // by row
};

}  // namespace

GenerationTimes generate_all(Generator& generator, std::span<Continuation> texts,
                             const std::function<bool(const GenerationTimes&)>& step) {
    GenerationTimes times;
    Rows rows(generator);
    const auto beginning = Clock::now();
    do {
        for (auto row = rows.free(); row && times.begun < texts.size(); row = rows.free()) {
            rows.begin(texts[times.begun], *row, times);
            if (times.begun == 1) times.first_token = seconds_since(beginning);
            if (!step(times)) return times;
        }
    } while (rows.decode(times) && step(times));
    return times;
}

}  // namespace vkf
