// Figures of a report on training runs.
#pragma once

#include <string>
#include <vector>

#include "apps/plots/line_plot.h"
#include "apps/report/run_log.h"

namespace vkf {

struct Figure {
    std::string file;  // name for a file, without its extension
    LinePlot plot;
};

/// Losses, accuracies, learning rate, gradient norm, speed, share of peak: those that a run has.
std::vector<Figure> training_figures(const std::vector<RunGroup>& groups);
/// Statistics of attention by depth, at the last probe of each group's first run.
std::vector<Figure> depth_figures(const std::vector<RunGroup>& groups);
/// Statistics of a run's attention by step, one curve per layer.
std::vector<Figure> probe_figures(const RunLog& run);

}  // namespace vkf
