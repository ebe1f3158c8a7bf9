#include "models/generate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/error.h"

namespace vkf {

namespace {

constexpr std::uint64_t LONGEST_PIECE = 256;

}  // namespace

void describe_reading(const Scope& scope, const Gpt2Config& config, std::int64_t length, Format activations) {
    Graph& graph = scope.graph();
    const Tensor tokens = graph.input("tokens", {DType::i32, {1, length}});
    const KeyValueCache cache{.length = graph.input("length", {DType::i32, {1}}),
                              .positions = graph.input("positions", {DType::i32, {length}}),
                              .capacity = config.n_positions,
                              .format = activations};
    graph.output("logits", gpt2(scope, config, tokens, &cache, true));
}

Generator::Generator(Device& device, const Gpt2Config& config, Format activations)
    : device_(device), config_(config), activations_(activations), state_(device) {
    reader(1);
}

Generator::Reader& Generator::reader(std::int64_t length) {
    std::unique_ptr<Reader>& made = readers_[length];
    if (made) return *made;
    auto fresh = std::make_unique<Reader>();
    fresh->graph.activations = activations_;
    describe_reading(Scope(fresh->graph, parameters_), config_, length, activations_);
    fresh->program.emplace(device_, fresh->graph, state_);
    made = std::move(fresh);
    return *made;
}

void Generator::read(std::span<const std::int32_t> tokens, std::int64_t position) {
    const auto count = static_cast<std::int64_t>(tokens.size());
    Program& program = *reader(count).program;
    std::vector<std::int32_t> positions(tokens.size());
    std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(position));
    program.write("tokens", tokens);
    program.write("positions", positions);
    program.write("length", std::array{static_cast<std::int32_t>(position + count)});
    program.run();
}

std::vector<float> Generator::start(std::span<const std::int32_t> tokens) {
    require(!tokens.empty(), "generate: there is no token to start from");
    const auto most = static_cast<std::size_t>(config_.n_positions);
    context_.assign(tokens.end() - static_cast<std::ptrdiff_t>(std::min(tokens.size(), most)), tokens.end());
    const std::size_t count = context_.size();
    const std::size_t piece = std::bit_floor(std::min<std::uint64_t>(count, LONGEST_PIECE));
    for (std::size_t done = 0; done < count; done += piece) {
        const std::size_t at = std::min(done, count - piece);
        read(std::span(context_).subspan(at, piece), static_cast<std::int64_t>(at));
    }
    return reader(static_cast<std::int64_t>(piece)).program->read("logits");
}

std::vector<float> Generator::append(std::int32_t token) {
    context_.push_back(token);
    if (static_cast<std::int64_t>(context_.size()) > config_.n_positions) {
        const auto kept = static_cast<std::ptrdiff_t>(std::max<std::int64_t>(1, config_.n_positions / 2));
        return start(std::vector<std::int32_t>(context_.end() - kept, context_.end()));
    }
    read(std::span(&context_.back(), 1), static_cast<std::int64_t>(context_.size()) - 1);
    return reader(1).program->read("logits");
}

}  // namespace vkf
