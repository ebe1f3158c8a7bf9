#include "models/generate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/error.h"

namespace vkf {

namespace {

constexpr std::uint64_t LONGEST_CHUNK = 256;

}  // namespace

Generator::Generator(Device& device, const ModelConfig& config, Format activations)
    : device_(device),
      config_(config),
      context_length_(config.size(Dimension::context)),
      activations_(activations),
      state_(device) {
    chunk(1);
}

Generator::PrefillChunk& Generator::chunk(std::int64_t length) {
    std::unique_ptr<PrefillChunk>& made = chunks_[length];
    if (made) return *made;
    auto fresh = std::make_unique<PrefillChunk>();
    fresh->graph.activations = activations_;
    prefill_chunk(Scope(fresh->graph, parameters_), config_, length, activations_);
    fresh->program.emplace(device_, fresh->graph, state_);
    made = std::move(fresh);
    return *made;
}

void Generator::run_chunk(std::span<const std::int32_t> tokens, std::int64_t position) {
    const auto count = static_cast<std::int64_t>(tokens.size());
    Program& program = *chunk(count).program;
    std::vector<std::int32_t> positions(tokens.size());
    std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(position));
    program.write("tokens", tokens);
    program.write("positions", positions);
    program.write("length", std::array{static_cast<std::int32_t>(position + count)});
    program.run();
}

std::vector<float> Generator::prefill(std::span<const std::int32_t> tokens) {
    require(!tokens.empty(), "generate: there is no token to start from");
    const auto most = static_cast<std::size_t>(context_length_);
    context_.assign(tokens.end() - static_cast<std::ptrdiff_t>(std::min(tokens.size(), most)), tokens.end());
    const std::size_t count = context_.size();
    const std::size_t size = std::bit_floor(std::min<std::uint64_t>(count, LONGEST_CHUNK));
    for (std::size_t done = 0; done < count; done += size) {
        const std::size_t at = std::min(done, count - size);
        run_chunk(std::span(context_).subspan(at, size), static_cast<std::int64_t>(at));
    }
    return chunk(static_cast<std::int64_t>(size)).program->read("logits");
}

std::vector<float> Generator::decode(std::int32_t token) {
    context_.push_back(token);
    if (static_cast<std::int64_t>(context_.size()) > context_length_) {
        const auto kept = static_cast<std::ptrdiff_t>(std::max<std::int64_t>(1, context_length_ / 2));
        return prefill(std::vector<std::int32_t>(context_.end() - kept, context_.end()));
    }
    run_chunk(std::span(&context_.back(), 1), static_cast<std::int64_t>(context_.size()) - 1);
    return chunk(1).program->read("logits");
}

}  // namespace vkf
