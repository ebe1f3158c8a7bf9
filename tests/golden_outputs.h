// Outputs of a model's graph under the names of golden case files.
#pragma once

#include <vector>

#include "models/scope.h"
#include "ops/backward.h"
#include "ops/movement/view.h"

namespace vkf::test {

/// Makes logits, loss and every gradient outputs, by their names in case files.
inline void output_all(Graph& graph, const Parameters& parameters, Tensor logits, Tensor loss) {
    graph.output("logits", logits);
    graph.output("loss", loss);
    const std::vector<Parameter> trained = parameters.trained();
    std::vector<Tensor> wrt;
    for (const Parameter& p : trained) wrt.push_back(p.tensor);
    const std::vector<Tensor> d = gradients(loss, wrt);
    for (std::size_t i = 0; i < wrt.size(); ++i) graph.output("grad." + trained[i].name, contiguous(d[i]));
}

}  // namespace vkf::test
