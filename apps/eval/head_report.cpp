#include "apps/eval/head_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/cli/common.h"
#include "apps/plots/line_plot.h"
#include "base/integers.h"
#include "models/probes/attention_svg.h"
#include "models/probes/rollout.h"

namespace vkf {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t MOST_TOKENS = 64;  // tokens of a sequence that a picture shows

const HeadLoss* find_loss(const std::vector<HeadLoss>& list, const Head& head) {
    const auto found = std::ranges::find(list, head, &HeadLoss::head);
    return found == list.end() ? nullptr : &*found;
}

bool lost(const HeadResults& results, const Head& head) {
    return std::ranges::find(results.lost_before, head) != results.lost_before.end();
}

/// Path of the stack that a layer belongs to: "h.3.attn" → "h".
std::string stack_of(const std::string& layer) {
    for (std::size_t at = 0; (at = layer.find('.', at)) != std::string::npos; ++at)
        if (at + 1 < layer.size() && layer[at + 1] >= '0' && layer[at + 1] <= '9') return layer.substr(0, at);
    return layer;
}

/// The first elements of a table of `columns` columns: rows of so many, each cut to `kept`.
std::vector<float> corner(std::span<const float> table, std::size_t columns, std::size_t rows, std::size_t kept) {
    std::vector<float> made;
    for (std::size_t t = 0; t < rows; ++t) {
        const auto row = table.subspan(t * columns, kept);
        made.insert(made.end(), row.begin(), row.end());
    }
    return made;
}

std::string layer_picture(const SeenLayer& layer) {
    const std::size_t rows = std::min(layer.queries.size(), MOST_TOKENS);
    const std::size_t columns = std::min(layer.keys.size(), MOST_TOKENS);
    AttentionTables drawn{.columns = {layer.keys.begin(), layer.keys.begin() + static_cast<std::ptrdiff_t>(columns)},
                          .rows = {layer.queries.begin(), layer.queries.begin() + static_cast<std::ptrdiff_t>(rows)},
                          .tables = {},
                          .in_a_line = 4};
    const std::size_t size = layer.queries.size() * layer.keys.size();
    for (std::size_t head = 0; head < as_index(layer.heads); ++head)
        drawn.tables.push_back({text("head ", head), corner(std::span(layer.weights).subspan(head * size, size),
                                                            layer.keys.size(), rows, columns)});
    return attention_svg(drawn);
}

/// Rollout through layers of self-attention over the same tokens.
std::string rollout_picture(const std::vector<const SeenLayer*>& stack) {
    const SeenLayer& first = *stack.front();
    const std::size_t tokens = first.queries.size(), shown = std::min(tokens, MOST_TOKENS);
    std::vector<AttentionWeights> blocks;
    for (const SeenLayer* layer : stack)
        blocks.push_back({as_index(layer->heads), tokens, {layer->weights.begin(), layer->weights.end()}});
    const std::vector<std::string> labels(first.queries.begin(),
                                          first.queries.begin() + static_cast<std::ptrdiff_t>(shown));
    AttentionTable table;
    for (std::size_t t = 0; t < shown; ++t) {
        const std::vector<double> shares = rollout(blocks, t);
        for (std::size_t j = 0; j < shown; ++j) table.weights.push_back(static_cast<float>(shares[j]));
    }
    return attention_svg({.columns = labels, .rows = labels, .tables = {std::move(table)}});
}

LinePlot spectrum_plot(const HeadResults& results) {
    LinePlot plot{.title = "Spectrum of attention",
                  .x_label = "largest singular values",
                  .y_label = "share of the sum of squares",
                  .curves = {}};
    for (std::size_t layer = 0; layer < results.layers.size(); ++layer) {
        Curve curve{.name = results.layers[layer].name};
        for (const HeadStatistics& head : results.statistics[layer]) {
            const std::vector<double> spectrum = head.spectrum();
            curve.y.resize(std::max(curve.y.size(), spectrum.size()));
            for (std::size_t k = 0; k < spectrum.size(); ++k)
                curve.y[k] += spectrum[k] / static_cast<double>(results.statistics[layer].size());
        }
        for (std::size_t k = 0; k < curve.y.size(); ++k) curve.x.push_back(static_cast<double>(k + 1));
        if (!curve.y.empty()) plot.curves.push_back(std::move(curve));
    }
    return plot;
}

LinePlot pruning_plot(const HeadResults& results) {
    Curve curve{.name = "", .x = {0}, .y = {results.loss}};
    for (std::size_t i = 0; i < results.pruned.size(); ++i) {
        curve.x.push_back(static_cast<double>(i + 1));
        curve.y.push_back(results.pruned[i].loss);
    }
    return {.title = "Loss without heads", .x_label = "pruned heads", .y_label = "loss", .curves = {curve}};
}

}  // namespace

std::string heads_text(const HeadResults& results) {
    std::vector<std::vector<std::string>> rows{{"layer", "head", "role", "share", "confidence", "entropy", "rank"}};
    if (!results.without.empty()) rows[0].emplace_back("loss without");
    for (std::size_t layer = 0; layer < results.layers.size(); ++layer)
        for (std::int64_t h = 0; h < results.layers[layer].heads; ++h) {
            const HeadStatistics& head = results.statistics[layer][as_index(h)];
            const bool gone = lost(results, {layer, h});
            auto& row = rows.emplace_back(std::vector{results.layers[layer].name, text(h)});
            if (head.empty() || gone) {
                row.insert(row.end(), {gone ? "pruned" : "", "", "", "", ""});
            } else {
                const HeadRole role = head.role();
                row.insert(row.end(), {role.name, role.name.empty() ? "" : percent_text(role.share),
                                       fixed(head.confidence(), 3), fixed(head.entropy(), 3), text(head.rank())});
            }
            if (results.without.empty()) continue;
            const HeadLoss* without = find_loss(results.without, {layer, h});
            row.push_back(without ? fixed(without->loss, 5) : "");
        }
    std::string made = text("loss ", fixed(results.loss, 5), "\n\n", table(rows));
    if (results.pruned.empty()) return made;
    std::vector<std::vector<std::string>> order{{"pruned", "layer", "head", "loss"}};
    for (const HeadLoss& at : results.pruned)
        order.push_back(
            {text(order.size()), results.layers[at.head.layer].name, text(at.head.head), fixed(at.loss, 5)});
    return made + '\n' + table(order);
}

ordered_json heads_document(const HeadResults& results) {
    ordered_json document{{"loss", results.loss}, {"layers", ordered_json::array()}};
    for (std::size_t layer = 0; layer < results.layers.size(); ++layer) {
        ordered_json list = ordered_json::array();
        for (std::int64_t h = 0; h < results.layers[layer].heads; ++h) {
            const HeadStatistics& head = results.statistics[layer][as_index(h)];
            ordered_json made{{"pruned", lost(results, {layer, h})}};
            if (!head.empty()) {
                const HeadRole role = head.role();
                made.update({{"role", role.name},
                             {"share", role.share},
                             {"confidence", head.confidence()},
                             {"entropy", head.entropy()},
                             {"rank", head.rank()},
                             {"spectrum", head.spectrum()}});
            }
            if (const HeadLoss* without = find_loss(results.without, {layer, h})) made["loss_without"] = without->loss;
            list.push_back(std::move(made));
        }
        document["layers"].push_back({{"layer", results.layers[layer].name}, {"heads", std::move(list)}});
    }
    for (const HeadLoss& at : results.pruned)
        document["pruned"].push_back(
            {{"layer", results.layers[at.head.layer].name}, {"head", at.head.head}, {"loss", at.loss}});
    return document;
}

std::vector<std::string> heads_picture_names(const std::vector<HeadLayer>& layers) {
    std::vector<std::string> names{"spectrum.svg", "pruning.svg"};
    for (const HeadLayer& layer : layers) {
        names.push_back(layer.name + ".svg");
        const std::string rollout = stack_of(layer.name) + ".rollout.svg";
        if (std::ranges::find(names, rollout) == names.end()) names.push_back(rollout);
    }
    return names;
}

std::vector<std::pair<std::string, std::string>> heads_pictures(const HeadResults& results) {
    std::vector<std::pair<std::string, std::string>> made;
    const LinePlot spectrum = spectrum_plot(results), pruning = pruning_plot(results);
    if (can_be_drawn(spectrum)) made.emplace_back("spectrum.svg", line_plot_svg(spectrum));
    if (!results.pruned.empty()) made.emplace_back("pruning.svg", line_plot_svg(pruning));
    std::map<std::string, std::vector<const SeenLayer*>> stacks;
    for (const SeenLayer& layer : results.first_sequence) {
        made.emplace_back(layer.name + ".svg", layer_picture(layer));
        if (!layer.cross && layer.queries.size() == layer.keys.size()) stacks[stack_of(layer.name)].push_back(&layer);
    }
    for (const auto& [name, stack] : stacks) made.emplace_back(name + ".rollout.svg", rollout_picture(stack));
    return made;
}

}  // namespace vkf
