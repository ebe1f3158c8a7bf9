#include "models/adapters/adapters.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "models/language_model.h"

namespace vkf {

namespace {

/// Last components of the maps' paths, sorted, each once.
std::vector<std::string> names_of(const std::vector<LinearMap>& maps) {
    std::set<std::string> names;
    for (const LinearMap& map : maps) names.insert(map.path.substr(map.path.rfind('.') + 1));
    return {names.begin(), names.end()};
}

}  // namespace

Parameters parameters_of(const ModelConfig& model) {
    Graph graph;
    Parameters parameters;
    language_logits(Scope(graph, parameters), model, graph.input("tokens", {DType::i32, {1, 1}}));
    return parameters;
}

ModelConfig with_adapters(ModelConfig model, LoraConfig adapters) {
    model.set_adapters({});
    const Parameters parameters = parameters_of(model);
    const std::vector<LinearMap>& maps = parameters.linear_maps();
    std::vector<std::string>& targets = adapters.targets;
    if (targets.empty()) targets.assign(model.family().lora_targets.begin(), model.family().lora_targets.end());
    const std::string wanted = text("wanted some of ", listed(names_of(maps)), ", or ", all_linear);
    require(!targets.empty(), "a ", model.family().title, " has no usual targets, ", wanted);
    if (targets == std::vector{std::string(all_linear)}) targets = names_of(maps);
    std::ranges::sort(targets);  // a set in PEFT
    targets.erase(std::ranges::unique(targets).begin(), targets.end());
    for (const std::string& target : targets) {
        const LoraConfig only{.targets = {target}};
        require(std::ranges::any_of(maps, [&](const LinearMap& map) { return only.adapts(map.path); }), "target '",
                target, "' is none of the linear maps of a ", model.family().title, ", ", wanted);
    }
    model.set_adapters(std::move(adapters));
    return model;
}

}  // namespace vkf
