// vkformer eval --probe: statistics of attention, layer by layer.

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/common.h"
#include "apps/eval/eval.h"
#include "apps/eval/model_evaluation.h"
#include "apps/tasks.h"
#include "base/text/json_text.h"
#include "models/probes/attention_probe.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// One row per layer, one column per statistic, of first tokens or of all.
Rows probe_rows(const std::vector<AttentionProbe::Layer>& layers, const char* title, double TokenMean::*mean) {
    Rows rows{{title}};
    for (const auto& [name, value] : layers.front().statistics) rows[0].push_back(name);
    for (const AttentionProbe::Layer& layer : layers) {
        std::vector<std::string>& row = rows.emplace_back(std::vector{layer.name});
        for (const auto& [name, value] : layers.front().statistics) {
            const auto found = layer.statistics.find(name);
            const bool has = found != layer.statistics.end() && std::isfinite(found->second.*mean);
            row.push_back(has ? fixed(found->second.*mean, 3) : "-");
        }
    }
    return rows;
}

}  // namespace

void eval_probe(const Common& common, const EvalOptions& o, const Task& task) {
    const ModelEvaluation evaluation = commands_of(task).evaluation(common, o);
    with_device(common, [&](Device& device) {
        State state(device);
        Parameters parameters;
        const auto compile = [&](const LossGraph& loss) {
            return std::make_unique<CompiledGraph>(device, state, common.activations(), [&](Graph& graph) {
                graph.output("loss", loss(Scope(graph, parameters)));
            });
        };
        const LossGraph& loss = evaluation.loss.shapes[evaluation.loss.shape_of(0)];
        AttentionProbe probe(compile, loss, evaluation.model->config, "--probe");
        evaluation.model->load(parameters, state);
        const std::vector<AttentionProbe::Layer> layers = probe.read(evaluation.feed);
        if (common.json) return print_json(rounded(probe_document(layers)));
        print(table(probe_rows(layers, "all tokens", &TokenMean::all)) + "\n" +
              table(probe_rows(layers, "first token", &TokenMean::first)));
    });
}

}  // namespace vkf
