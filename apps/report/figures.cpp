#include "apps/report/figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace vkf {

namespace {

/// A statistic of attention: its name in metrics.jsonl, and the words of its figures.
struct Named {
    const char *name, *title, *unit;
};

constexpr Named STATISTICS[] = {
    {"mh_norm", "‖MH‖", "norm"},
    {"delta_norm", "‖Δ‖", "norm"},
    {"mh_output_norm", "‖MH·W‖", "norm"},
    {"delta_output_norm", "‖Δ·W‖", "norm"},
    {"mh_output_angle", "∠(MH·W, X)", "degrees"},
    {"delta_output_angle", "∠(Δ·W, X)", "degrees"},
    {"phi_norm", "‖Φ‖", "norm"},
    {"value_cosine", "cos(o, v)", "cosine"},
    {"self_weight", "Self-weight α_kk", "weight"},
    {"entropy", "Entropy of the weights", "nats"},
    {"rank", "Rank of the weights", "singular values"},
};

/// Mean of the values around each, in which single steps do not show.
Series smoothed(Series series) {
    constexpr std::size_t REACH = 10;
    std::vector<double> sums{0};
    for (const double value : series.values) sums.push_back(sums.back() + value);
    const std::size_t count = series.values.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t first = i < REACH ? 0 : i - REACH, end = std::min(count, i + REACH + 1);
        series.values[i] = (sums[end] - sums[first]) / static_cast<double>(end - first);
    }
    return series;
}

/// The metric of all runs of a group; nothing if a run lacks it.
std::vector<const Series*> series_of(const RunGroup& group, const std::string& metric) {
    std::vector<const Series*> found;
    for (const RunLog* run : group.runs)
        if (const Series* series = run->find(metric)) found.push_back(series);
    if (found.size() != group.runs.size()) found.clear();
    return found;
}

/// Adds a curve of the metric for each group that has it.
void add_curves(LinePlot& plot, const std::vector<RunGroup>& groups, const std::string& metric, bool faint = false) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::vector<const Series*> found = series_of(groups[g], metric);
        if (found.empty()) continue;
        MeanSeries mean = mean_of(found);
        if (faint) mean = {smoothed(mean.mean), {}};
        plot.curves.push_back({.name = faint || groups.size() == 1 ? "" : groups[g].name,
                               .x = std::move(mean.mean.steps),
                               .y = std::move(mean.mean.values),
                               .spread = std::move(mean.deviation),
                               .colour = static_cast<int>(g),
                               .faint = faint});
    }
}

/// Metrics of all runs that end in these letters.
std::vector<std::string> metrics_ending(const std::vector<RunGroup>& groups, const std::string& end) {
    std::vector<std::string> names;
    for (const RunGroup& group : groups)
        for (const RunLog* run : group.runs)
            for (const auto& [name, series] : run->series)
                if (name.ends_with(end) && std::ranges::find(names, name) == names.end()) names.push_back(name);
    std::ranges::sort(names);
    return names;
}

void add(std::vector<Figure>& figures, std::string file, LinePlot plot) {
    if (can_be_drawn(plot)) figures.push_back({std::move(file), std::move(plot)});
}

void add_metric(std::vector<Figure>& figures, const std::vector<RunGroup>& groups, const std::string& metric,
                std::string title, std::string unit, bool log_y = false) {
    LinePlot plot{.title = std::move(title), .x_label = "step", .y_label = std::move(unit), .log_y = log_y};
    add_curves(plot, groups, metric);
    add(figures, metric, std::move(plot));
}

std::string sentence(std::string words) {
    std::ranges::replace(words, '_', ' ');
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
    return words;
}

}  // namespace

std::vector<Figure> training_figures(const std::vector<RunGroup>& groups) {
    std::vector<Figure> figures;
    LinePlot loss{.title = "Loss: validation, and training pale", .x_label = "step", .y_label = "loss"};
    add_curves(loss, groups, "val_loss");
    add_curves(loss, groups, "loss", true);
    add(figures, "loss", std::move(loss));
    for (const std::string& name : metrics_ending(groups, "_accuracy"))
        add_metric(figures, groups, name, sentence(name), "accuracy");
    for (const std::string& name : metrics_ending(groups, "_loss"))
        if (name != "val_loss") add_metric(figures, groups, name, sentence(name), "loss");
    add_metric(figures, groups, "lr", "Learning rate", "learning rate");
    add_metric(figures, groups, "grad_norm", "Gradient norm", "norm", true);
    for (const std::string& name : metrics_ending(groups, "_per_s"))
        add_metric(figures, groups, name, "Speed", sentence(name.substr(0, name.size() - 6)) + " per second");
    add_metric(figures, groups, "share_of_peak", "Share of the device's peak", "share");
    add_metric(figures, groups, "loss_scale", "Loss scale", "scale", true);
    return figures;
}

std::vector<Figure> depth_figures(const std::vector<RunGroup>& groups) {
    std::vector<Figure> figures;
    for (const auto& [name, title, unit] : STATISTICS)
        for (const bool first : {false, true}) {
            LinePlot plot{.title = text(title, first ? " of the first token" : "", ", by depth"),
                          .x_label = "layer",
                          .y_label = unit};
            for (std::size_t g = 0; g < groups.size(); ++g) {
                const RunLog& run = *groups[g].runs.front();
                const auto found = run.probes.find(name);
                if (found == run.probes.end()) continue;
                Curve curve{.name = groups.size() == 1 ? "" : groups[g].name, .colour = static_cast<int>(g)};
                for (const Series& layer : first ? found->second.first : found->second.all) {
                    curve.x.push_back(static_cast<double>(curve.x.size() + 1));
                    curve.y.push_back(layer.values.back());
                }
                plot.curves.push_back(std::move(curve));
            }
            add(figures, text("depth-", name, first ? "-first" : ""), std::move(plot));
        }
    return figures;
}

std::vector<Figure> probe_figures(const RunLog& run) {
    std::vector<Figure> figures;
    for (const auto& [name, title, unit] : STATISTICS)
        for (const bool first : {false, true}) {
            const auto found = run.probes.find(name);
            if (found == run.probes.end()) continue;
            LinePlot plot{.title = text(title, first ? " of the first token" : ""), .x_label = "step", .y_label = unit};
            const std::vector<Series>& layers = first ? found->second.first : found->second.all;
            for (std::size_t i = 0; i < layers.size(); ++i)
                plot.curves.push_back({.name = run.layers[i], .x = layers[i].steps, .y = layers[i].values});
            add(figures, text(name, first ? "-first" : ""), std::move(plot));
        }
    return figures;
}

}  // namespace vkf
