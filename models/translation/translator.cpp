#include "models/translation/translator.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/integers.h"

namespace vkf {

namespace {

/// Shortest room that sources are read in: programs for shorter ones would save little.
constexpr std::int64_t LEAST_SOURCE = 16;

}  // namespace

Translator::Translator(Device& device, const ModelConfig& config, const TranslatorOptions& options)
    : device_(device), config_(config), options_(options), tokens_(translation_tokens(config)), state_(device) {
    const WritingShape& shape = options.shape;
    require(shape.sources > 0 && shape.beams > 0 && shape.source > 0 && shape.target > 0, "translate: ", shape.sources,
            " sources, ", shape.beams, " beams, wanted at least 1");
    writer_ = compile([&](const Scope& scope) { write_step(scope, config_, shape, options_.activations); });
    reader(shape.source);  // reserves the weights that the writer does not have
}

/// The program that reads sources of at most `length` tokens.
Program& Translator::reader(std::int64_t length) {
    std::unique_ptr<CompiledGraph>& made = readers_[length];
    if (!made)
        made = compile(
            [&](const Scope& scope) { read_sources(scope, config_, options_.shape, length, options_.activations); });
    return made->program;
}

std::unique_ptr<CompiledGraph> Translator::compile(const std::function<void(const Scope&)>& build) {
    return std::make_unique<CompiledGraph>(
        device_, state_, options_.activations, [&](Graph& graph) { build(Scope(graph, parameters_)); },
        ProgramOptions{.shares = writer_ ? &writer_->program : nullptr});
}

/// Reads sources into the decoder's memory, in a program with room for a power of two of tokens.
void Translator::read(std::span<const std::vector<std::int32_t>> sources) {
    const WritingShape& shape = options_.shape;
    std::int64_t longest = LEAST_SOURCE;
    for (const auto& source : sources) longest = std::max(longest, std::ssize(source));
    const std::int64_t length =
        std::min(shape.source, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(longest))));
    Program& program = reader(length);
    std::vector<std::int32_t> tokens(as_index(shape.sources * length));
    source_lengths_.assign(as_index(shape.sources), 0);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        std::ranges::copy(sources[i], tokens.begin() + static_cast<std::ptrdiff_t>(i) * length);
        source_lengths_[i] = static_cast<std::int32_t>(sources[i].size());
    }
    program.write("source_tokens", tokens);
    program.write("source_lengths", source_lengths_);
    program.run();
}

std::vector<BeamSearch> Translator::searches(std::span<const std::vector<std::int32_t>> sources) const {
    std::vector<BeamSearch> made;
    for (const auto& source : sources) {
        BeamOptions search = options_.search;
        const double limit =
            options_.per_source * static_cast<double>(source.size()) + static_cast<double>(options_.more);
        search.beams = options_.shape.beams;
        search.end = tokens_.end;
        search.longest = std::clamp(static_cast<std::int64_t>(limit), std::int64_t{1}, options_.shape.target);
        made.emplace_back(search);
    }
    return made;
}

/// Reads the last token of every open beam; returns the logits of the next ones, [rows, V].
std::vector<float> Translator::advance_rows(const std::vector<BeamSearch>& searches) {
    const WritingShape& shape = options_.shape;
    const std::size_t rows = as_index(shape.rows());
    std::vector<std::int32_t> tokens(rows), positions(rows), lengths(rows), parents(rows),
        filled(as_index(shape.sources));
    for (std::size_t r = 0; r < rows; ++r) parents[r] = static_cast<std::int32_t>(r % as_index(shape.beams));
    for (std::size_t s = 0; s < searches.size(); ++s) {
        const BeamSearch& search = searches[s];
        if (search.done()) continue;
        const std::int64_t length = search.length();
        filled[s] = static_cast<std::int32_t>(length);
        for (std::int64_t b = 0; b < search.open(); ++b) {
            const std::size_t row = s * as_index(shape.beams) + as_index(b);
            tokens[row] = length > 0 ? search.token(b) : tokens_.begin;
            parents[row] = length > 0 ? search.parent(b) : parents[row];
            positions[row] = static_cast<std::int32_t>(length);
            lengths[row] = static_cast<std::int32_t>(length + 1);
        }
    }
    Program& program = writer_->program;
    program.write("source_lengths", source_lengths_);
    program.write("tokens", tokens);
    program.write("positions", positions);
    program.write("lengths", lengths);
    if (shape.beams > 1) {
        program.write("parents", parents);
        program.write("filled", filled);
    }
    program.run();
    return program.read("logits");
}

std::vector<std::vector<Hypothesis>> Translator::translate(std::span<const std::vector<std::int32_t>> sources,
                                                           std::int64_t count, const std::function<bool()>& goes_on) {
    const WritingShape& shape = options_.shape;
    require(std::ssize(sources) <= shape.sources, "translate: ", sources.size(), " sources, and there is room for ",
            shape.sources);
    for (const auto& source : sources)
        require(!source.empty() && std::ssize(source) <= shape.source, "translate: a source of ", source.size(),
                " tokens, and there is room for ", shape.source);
    read(sources);
    std::vector<BeamSearch> searching = searches(sources);
    while (!std::ranges::all_of(searching, &BeamSearch::done)) {
        const std::vector<float> logits = advance_rows(searching);
        const std::size_t width = logits.size() / as_index(shape.rows());
        for (std::size_t s = 0; s < searching.size(); ++s) {
            if (searching[s].done()) continue;
            const std::size_t first = s * as_index(shape.beams);
            searching[s].advance(std::span(logits).subspan(first * width, as_index(searching[s].open()) * width));
        }
        if (goes_on && !goes_on()) return {};
    }
    std::vector<std::vector<Hypothesis>> found;
    for (const BeamSearch& search : searching) found.push_back(search.best(count));
    return found;
}

}  // namespace vkf
