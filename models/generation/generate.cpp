#include "models/generation/generate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace vkf {

namespace {

std::vector<std::int32_t> words_of(std::span<const SampleRow> rows) {
    std::vector<std::int32_t> words(rows.size() * SampleRow::words);
    std::memcpy(words.data(), rows.data(), rows.size_bytes());
    return words;
}

}  // namespace

std::int64_t longest_chunk(std::int64_t tokens) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(tokens, LONGEST_CACHED_CALL))));
}

Generator::Generator(Device& device, const ModelConfig& config, const GeneratorOptions& options)
    : device_(device),
      config_(config),
      context_length_(config.size(Dimension::context)),
      keeps_positions_(cache_keeps_positions(config)),
      activations_(options.activations),
      state_(device),
      contexts_(index(options.rows)) {
    require(options.rows > 0, "generate: ", options.rows, " rows, wanted at least 1");
    decoder_ = compile([&](const Scope& scope) { decode_step(scope, config_, activations_, options.rows); });
    decoder_->program.write("seen", std::vector<std::int32_t>(index(options.rows) * seen_width()));
    if (options.rows == 1) return;
    copy_ = std::make_unique<CompiledGraph>(device_, state_, Format::f32, [&](Graph& graph) {
        copy_cache_row(graph, config_, activations_, options.rows);
    });
}

std::unique_ptr<CompiledGraph> Generator::compile(const std::function<void(const Scope&)>& build) {
    return std::make_unique<CompiledGraph>(device_, state_, activations_,
                                           [&](Graph& graph) { build(Scope(graph, parameters_)); });
}

CompiledGraph& Generator::chunk(std::int64_t length) {
    std::unique_ptr<CompiledGraph>& made = chunks_[length];
    if (!made) made = compile([&](const Scope& scope) { prefill_chunk(scope, config_, length, activations_); });
    return *made;
}

std::size_t Generator::seen_width() const {
    return index(decoder_->graph.input_named("seen").width());
}

void Generator::run_chunk(std::span<const std::int32_t> tokens, std::int64_t position) {
    const auto count = static_cast<std::int64_t>(tokens.size());
    Program& program = chunk(count).program;
    std::vector<std::int32_t> positions(tokens.size());
    std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(position));
    program.write("tokens", tokens);
    program.write("positions", positions);
    program.write("lengths", std::array{static_cast<std::int32_t>(position + count)});
    program.run();
}

std::vector<float> Generator::read(std::span<const std::int32_t> tokens, std::int64_t position) {
    const std::size_t count = tokens.size();
    const auto longest = [](std::size_t left) {
        return static_cast<std::size_t>(longest_chunk(static_cast<std::int64_t>(left)));
    };
    std::size_t size = longest(count);
    for (std::size_t done = 0; done < count; done += size) {
        if (!keeps_positions_) size = longest(count - done);  // chunks must not overlap
        const std::size_t at = std::min(done, count - size);
        run_chunk(tokens.subspan(at, size), position + static_cast<std::int64_t>(at));
    }
    return chunk(static_cast<std::int64_t>(size)).program.read("logits");
}

std::vector<float> Generator::prefill(std::span<const std::int32_t> tokens, std::int64_t row) {
    require(!tokens.empty(), "there is no token to start from");
    prefilled_.assign(tokens.begin(), tokens.end());
    const auto most = static_cast<std::size_t>(context_length_);
    prefilled_logits_ = read(tokens.last(std::min(tokens.size(), most)), 0);
    return repeat_prefill(row);
}

std::vector<float> Generator::repeat_prefill(std::int64_t row) {
    const auto most = static_cast<std::size_t>(context_length_);
    const auto seen = std::span(prefilled_).last(std::min(prefilled_.size(), most));
    contexts_.at(index(row)).assign(seen.begin(), seen.end());
    if (copy_) {
        const std::array place{static_cast<std::int32_t>(row), static_cast<std::int32_t>(seen.size())};
        copy_->program.write("place", place);
        copy_->program.run();
    }
    return prefilled_logits_;
}

std::vector<float> Generator::extend(std::span<const std::int32_t> tokens) {
    std::vector<std::int32_t>& context = contexts_.front();
    const std::int64_t before = std::ssize(context), after = before + std::ssize(tokens);
    require(!tokens.empty(), "there is no token to go on from");
    require(rows() == 1, "generate: ", tokens.size(), " more tokens for ", rows(), " rows");
    require(after <= context_length_, "generate: ", after, " tokens, and there is room for ", context_length_);
    context.insert(context.end(), tokens.begin(), tokens.end());
    return read(tokens, before);
}

/// Reads the last half of a full row again, with its last token, which has not been read; returns the next logits.
std::vector<float> Generator::slide(std::int64_t row) {
    const std::vector<std::int32_t>& context = contexts_[index(row)];
    const std::int64_t kept = std::max<std::int64_t>(1, context_length_ / 2);
    return prefill(std::vector<std::int32_t>(context.end() - kept, context.end()), row);
}

std::vector<float> Generator::decode(std::int32_t token) {
    if (std::ssize(contexts_.front()) < context_length_) return extend(std::array{token});
    contexts_.front().push_back(token);
    return slide(0);
}

std::vector<SampledToken> Generator::decode(std::span<const NextToken> tokens) {
    std::vector<SampledToken> drawn(tokens.size());
    std::vector<std::int32_t> fresh(contexts_.size()), positions(contexts_.size()), lengths(contexts_.size());
    std::vector<SampleRow> how(contexts_.size());
    std::vector<std::int32_t> seen(contexts_.size() * seen_width());
    bool any_seen = false;
    std::vector<std::size_t> read;  // indices in `tokens` of those that one run reads
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const NextToken& next = tokens[i];
        const std::size_t row = index(next.row);
        std::vector<std::int32_t>& context = contexts_.at(row);
        context.push_back(next.token);
        if (std::ssize(context) > context_length_) {
            drawn[i] = sample_token(slide(next.row), next.how, next.seen);
            continue;
        }
        fresh[row] = next.token;
        lengths[row] = static_cast<std::int32_t>(context.size());
        positions[row] = lengths[row] - 1;
        how[row] = next.how;
        if (next.how.seen_positive != Scale()) {
            std::ranges::copy(next.seen, seen.begin() + static_cast<std::ptrdiff_t>(row * seen_width()));
            any_seen = true;
        }
        read.push_back(i);
    }
    if (read.empty()) return drawn;
    Program& program = decoder_->program;
    program.write("tokens", fresh);
    program.write("positions", positions);
    program.write("lengths", lengths);
    program.write("sampling", words_of(how));
    if (any_seen) program.write("seen", seen);
    program.run();
    const std::vector<std::int32_t> chosen = program.read_ints("drawn"), others = program.read_ints("probabilities");
    for (const std::size_t i : read) drawn[i] = sampled_token(chosen, others, tokens[i].row);
    return drawn;
}

}  // namespace vkf
