// Targets for sources: a translation model with programs that read sources and write targets, token by token.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "models/translation/beam_search.h"
#include "models/translation_model.h"
#include "program/compiled_graph.h"

namespace vkf {

struct TranslatorOptions {
    Format activations = Format::f32;
    WritingShape shape;  // extents of the programs
    BeamOptions search;  // with the shape's number of beams; `longest` is set for each source
    /// Limit of a target's tokens for a source: per_source · its tokens + more, and the shape's room.
    double per_source = 2;
    std::int64_t more = 10;
};

/// Programs over one set of weights. A batch of sources is read at once; then every step reads the last token of all
/// open beams and returns the logits of the next. Keys and values of sources and of earlier tokens stay on the device,
/// where rows take over those of the beams that they continue. A source is done when its search is; the batch, when all
/// its sources are. Sources do not depend on each other: results of a batch are those of its sources alone, except that
/// products of more rows may add in another order.
class Translator {
public:
    /// Reserves the weights, which the caller then loads.
    Translator(Device& device, const ModelConfig& config, const TranslatorOptions& options);

    State& state() { return state_; }
    const Parameters& parameters() const { return parameters_; }

    /// The best hypotheses of each source, best first, at most `count`; sources are at most as many and as long as the
    /// shape has room for, and end with the model's end token. `goes_on` is asked after each token; if it
    /// returns false, the result is empty.
    std::vector<std::vector<Hypothesis>> translate(std::span<const std::vector<std::int32_t>> sources,
                                                   std::int64_t count, const std::function<bool()>& goes_on = {});

private:
    std::unique_ptr<CompiledGraph> compile(const std::function<void(const Scope&)>& build);
    Program& reader(std::int64_t length);
    void read(std::span<const std::vector<std::int32_t>> sources);
    std::vector<BeamSearch> searches(std::span<const std::vector<std::int32_t>> sources) const;
    std::vector<float> advance_rows(const std::vector<BeamSearch>& searches);

    Device& device_;
    ModelConfig config_;
    TranslatorOptions options_;
    TranslationTokens tokens_;
    State state_;
    Parameters parameters_;
    std::map<std::int64_t, std::unique_ptr<CompiledGraph>> readers_;  // by tokens of the longest source
    std::unique_ptr<CompiledGraph> writer_;
    std::vector<std::int32_t> source_lengths_;  // of the batch
};

}  // namespace vkf
