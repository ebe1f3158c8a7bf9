#include "apps/eval/head_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/integers.h"
#include "models/attention/attention_taps.h"
#include "models/tokenizers/shown_token.h"
#include "program/program.h"

namespace vkf {

namespace {

constexpr std::int64_t POSITIONS = 1024;  // positions whose weights are read of a batch, in whole rows

const std::vector<std::string>& seen_taps() {
    static const std::vector<std::string> names{std::string(tap::weights), std::string(tap::attended),
                                                std::string(tap::cross_weights), std::string(tap::cross_attended)};
    return names;
}

/// True if a layer belongs to the encoder, by its path.
bool in_encoder(std::string_view path) {
    return path.starts_with("encoder.") || path.find(".encoder.") != std::string_view::npos;
}

/// Weights of a layer in a batch, and the queries that are not padding: attention leaves zeros there.
struct LayerWeights {
    const Tapped* layer;
    bool cross;
    std::size_t rows, heads, queries, keys;
    std::vector<float> weights;
    std::vector<bool> counted;

    LayerWeights(const Program& program, const Tapped& tapped, const Tapped& attended)
        : layer(&tapped),
          cross(tapped.name == tap::cross_weights),
          rows(as_index(tapped.tensor.shape()[0])),
          heads(as_index(tapped.tensor.shape()[1])),
          queries(as_index(tapped.tensor.shape()[2])),
          keys(as_index(tapped.tensor.shape()[3])),
          weights(program.read(tapped.output())) {
        const std::vector<float> o = program.read(attended.output());
        const std::size_t width = o.size() / (rows * queries);
        for (std::size_t i = 0; i < rows * queries; ++i)
            counted.push_back(std::any_of(o.begin() + static_cast<std::ptrdiff_t>(i * width),
                                          o.begin() + static_cast<std::ptrdiff_t>((i + 1) * width),
                                          [](float x) { return x != 0; }));
    }

    std::vector<bool> counted_in(std::size_t row) const {
        return {counted.begin() + static_cast<std::ptrdiff_t>(row * queries),
                counted.begin() + static_cast<std::ptrdiff_t>((row + 1) * queries)};
    }
    std::span<const float> map(std::size_t row, std::size_t head) const {
        return std::span(weights).subspan((row * heads + head) * queries * keys, queries * keys);
    }
};

/// Number of positions up to the last one that is used.
std::size_t used(const std::vector<bool>& flags) {
    const auto last = std::ranges::find(flags.rbegin(), flags.rend(), true);
    return static_cast<std::size_t>(flags.rend() - last);
}

/// Labels of the first positions of row 0: its tokens, or the numbers of the positions.
std::vector<std::string> labels(const ModelEvaluation& evaluation, std::uint64_t batch, bool source,
                                std::size_t count) {
    std::vector<std::string> made;
    const TokenRows rows = evaluation.tokens ? evaluation.tokens(batch, source) : TokenRows();
    for (std::size_t i = 0; i < count; ++i)
        made.push_back(!evaluation.tokens           ? std::to_string(i)
                       : rows.tokens[i] == rows.end ? "</s>"
                                                    : shown_token(rows.tokenizer, rows.tokens[i]));
    return made;
}

SeenLayer seen_layer(const LayerWeights& layer, const ModelEvaluation& evaluation, std::uint64_t batch) {
    std::vector<bool> read(layer.keys);
    for (std::size_t h = 0; h < layer.heads; ++h)
        for (std::size_t i = 0; i < layer.queries * layer.keys; ++i)
            if (layer.counted[i / layer.keys] && layer.map(0, h)[i] > 0) read[i % layer.keys] = true;
    const std::size_t queries = used(layer.counted_in(0)), keys = used(read);
    const bool encoder = in_encoder(layer.layer->path);
    SeenLayer made{.name = layer.layer->path,
                   .heads = static_cast<std::int64_t>(layer.heads),
                   .cross = layer.cross,
                   .queries = labels(evaluation, batch, encoder && !layer.cross, queries),
                   .keys = labels(evaluation, batch, encoder || layer.cross, keys),
                   .weights = {}};
    for (std::size_t h = 0; h < layer.heads; ++h)
        for (std::size_t t = 0; t < queries; ++t) {
            const auto row = layer.map(0, h).subspan(t * layer.keys, keys);
            made.weights.insert(made.weights.end(), row.begin(), row.end());
        }
    return made;
}

}  // namespace

std::vector<HeadLayer> layers_of(const ModelEvaluation& evaluation) {
    Graph graph;
    Parameters parameters;
    Taps taps{.names = {std::string(tap::output_map)}};
    evaluation.loss.shapes.front()(Scope(graph, parameters).with_taps(&taps));
    return head_layers(taps, parameters);
}

HeadStudy::HeadStudy(Device& device, Format activations, ModelEvaluation evaluation, std::uint64_t batches)
    : device_(device), activations_(activations), evaluation_(std::move(evaluation)), state_(device) {
    const std::uint64_t count = std::min(batches, evaluation_.batches);
    for (std::uint64_t i = 0; i < count; ++i) numbers_.push_back(i * evaluation_.batches / count);
    plain_.resize(evaluation_.loss.shapes.size());
    watching_.resize(evaluation_.loss.shapes.size());
    watched_.resize(evaluation_.loss.shapes.size());
    std::vector<HeadLayer> layers = layers_of(evaluation_);
    require(!layers.empty(), "a ", evaluation_.model->family().title, " has no attention heads");
    program(plain_, numbers_.front(), {});
    evaluation_.model->load(parameters_, state_);
    pruning_ = std::make_unique<HeadPruning>(state_, std::move(layers));
}

CompiledGraph& HeadStudy::program(std::vector<std::unique_ptr<CompiledGraph>>& list, std::uint64_t number,
                                  const std::vector<std::string>& names) {
    const std::size_t shape = evaluation_.loss.shape_of(number);
    if (!list[shape])
        list[shape] = std::make_unique<CompiledGraph>(device_, state_, activations_, [&](Graph& graph) {
            Taps taps{.names = names, .positions = POSITIONS};
            graph.output("loss", evaluation_.loss.shapes[shape](Scope(graph, parameters_).with_taps(&taps)));
            for (const Tapped& tapped : taps.found) graph.output(tapped.output(), tapped.tensor);
            if (!names.empty()) watched_[shape] = std::move(taps.found);
        });
    return *list[shape];
}

std::vector<std::int64_t> HeadStudy::uses(bool source) const {
    std::vector<std::int64_t> counts;
    if (!evaluation_.tokens) return counts;
    for (const std::uint64_t number : numbers_)
        for (const std::int32_t token : evaluation_.tokens(number, source).tokens) {
            if (as_index(token) >= counts.size()) counts.resize(as_index(token) + 1);
            ++counts[as_index(token)];
        }
    return counts;
}

std::vector<std::vector<HeadStatistics>> HeadStudy::look(const Step& step) {
    std::vector<std::vector<HeadStatistics>> heads;
    for (const HeadLayer& layer : layers()) heads.emplace_back(as_index(layer.heads));
    const auto statistics_of = [&](const std::string& path) -> std::vector<HeadStatistics>& {
        return heads[static_cast<std::size_t>(std::ranges::find(layers(), path, &HeadLayer::name) - layers().begin())];
    };
    const std::vector<std::int64_t> uses_of_side[] = {uses(false), uses(true)};
    const auto uses_of_keys = [&](std::uint64_t number, bool source) {
        std::vector<std::int64_t> found;
        if (!evaluation_.tokens) return found;
        for (const std::int32_t token : evaluation_.tokens(number, source).tokens)
            found.push_back(uses_of_side[source ? 1 : 0][as_index(token)]);
        return found;
    };
    first_.clear();
    for (const std::uint64_t number : numbers_) {
        Program& run = program(watching_, number, seen_taps()).program;
        evaluation_.feed(run, number);
        run.run();
        const std::vector<std::int64_t> by_side[] = {uses_of_keys(number, false), uses_of_keys(number, true)};
        const std::vector<Tapped>& found = watched_[evaluation_.loss.shape_of(number)];
        for (std::size_t i = 1; i < found.size(); ++i) {
            if (found[i].name != tap::weights && found[i].name != tap::cross_weights) continue;
            const LayerWeights layer(run, found[i], found[i - 1]);  // a layer offers MH before its weights
            const bool source = layer.cross || in_encoder(layer.layer->path);
            const std::vector<std::int64_t>& key_uses = by_side[source ? 1 : 0];
            std::vector<HeadStatistics>& of_layer = statistics_of(layer.layer->path);
            for (std::size_t row = 0; row < layer.rows; ++row) {
                std::vector<std::int64_t> row_uses;
                if (!key_uses.empty()) {
                    const auto first = key_uses.begin() + static_cast<std::ptrdiff_t>(row * layer.keys);
                    row_uses.assign(first, first + static_cast<std::ptrdiff_t>(layer.keys));
                }
                for (std::size_t head = 0; head < layer.heads; ++head)
                    of_layer[head].add(
                        {layer.queries, layer.keys, layer.map(row, head), layer.counted_in(row), row_uses});
            }
            if (number == numbers_.front()) first_.push_back(seen_layer(layer, evaluation_, number));
        }
        step();
    }
    return heads;
}

double HeadStudy::loss(const Step& step) {
    double sum = 0, items = 0;
    for (const std::uint64_t number : numbers_) {
        Program& run = program(plain_, number, {}).program;
        evaluation_.feed(run, number);
        run.run();
        const double weight = evaluation_.loss.weight_of(number);
        const auto loss = static_cast<double>(run.read_scalar("loss"));
        if (!std::isfinite(loss))
            throw Error("the loss is ", loss, "; the first number that is not finite: ", run.find_non_finite());
        sum += weight * loss;
        items += weight;
        step();
    }
    require(items > 0, "the batches have nothing to predict, wanted more of them");
    return sum / items;
}

}  // namespace vkf
