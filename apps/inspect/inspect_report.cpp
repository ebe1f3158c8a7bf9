#include "apps/inspect/inspect_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/inspect/inspect_explain.h"
#include "apps/inspect/inspect_memory.h"
#include "apps/inspect/inspect_ops.h"
#include "apps/inspect/inspect_types.h"
#include "models/files/config_json.h"
#include "models/train/optimizer.h"

namespace vkf {

using nlohmann::ordered_json;

namespace {

struct Part {
    std::string name;
    std::int64_t parameters = 0;
    double forward = 0, step = 0;  // FLOPs of a batch and of an update
};

/// Parameters and work by part, in the order of the model.
std::vector<Part> parts(const Parameters& parameters, const Analysis& forward, const Analysis& step) {
    std::vector<Part> list;
    const auto part = [&](const std::string& name) -> Part& {
        const auto found = std::ranges::find(list, name, &Part::name);
        return found != list.end() ? *found : list.emplace_back(Part{name});
    };
    for (const Parameter& parameter : parameters.list()) {
        const std::string layer = parameter.name.substr(0, parameter.name.rfind('.'));
        part(part_of(layer)).parameters += parameter.shape.elements();
    }
    for (const NodeCost& cost : forward.costs) part(cost.part).forward += cost.flops;
    for (const NodeCost& cost : step.costs) part(cost.part).step += cost.flops;
    return list;
}

std::string parts_text(const std::vector<Part>& list, const InspectedModel& model) {
    const std::string per_item = text("FLOPs/", model.task->item);
    std::vector<std::vector<std::string>> rows{{"part", "parameters", per_item + " forward", per_item + " training"}};
    Part total{"total"};
    const auto add = [&](const Part& p) {
        rows.push_back({p.name, text(p.parameters), count_text(p.forward / model.items()),
                        count_text(p.step / model.items_in_step())});
    };
    for (const Part& p : list) {
        add(p);
        total.parameters += p.parameters, total.forward += p.forward, total.step += p.step;
    }
    add(total);
    return table(rows);
}

}  // namespace

void report_inspection(const Common& common, const InspectView& view, const InspectedModel& model,
                       const TraitsFor& traits_for, const Room& room) {
    Graph inference;
    inference.activations = common.activations();
    Parameters parameters;
    inference.output("logits", model.task->logits(Scope(inference, parameters), model.config, model.sizes));
    StepGraphs training(model.loss(), model.trainer);
    const Analysis forward = analyse(inference, traits_for(inference)),
                   step = analyse(training, traits_for(training.step));
    Explanation explained;
    if (view.explain) explained = explain(model, {parameters, forward, step, analyse_generation(model, traits_for)});
    const bool generates = !model.generation(1).empty();
    const std::vector<Fit> fits = view.fit ? find_fits(model, traits_for, room) : std::vector<Fit>();
    const std::vector<Part> list = parts(parameters, forward, step);
    const std::string graph = training.step.dump() + (training.update ? training.update->dump() : "");
    const std::int64_t micro_batches = model.trainer.gradient_accumulation_steps;
    const std::int64_t trained = count(parameters.trained());
    const std::string_view optimizer = name_of(model.trainer.optimizer.kind);
    if (!common.json) {
        if (view.graph) return print(graph);
        const std::string frozen =
            trained < parameters.count() ? text("trained: ", trained, " parameters, the others are frozen\n") : "";
        print(text(
            parts_text(list, model), frozen, "\n", micro_batches > 1 ? text(micro_batches, " batches") : "A batch",
            " of ", model.task->batch(model.sizes), ", ", optimizer, ": ", count_text(step.flops), " FLOPs a step in ",
            step.dispatches, " dispatches and ", step.phases, " phases\n\n", memory_text(forward, step, model.cache)));
        if (view.explain) print(explanation_text(explained));
        if (view.fit) print(fits_text(fits, room, generates));
        if (view.types) print(types_text(step));
        if (view.by_op) print(ops_text(step));
        return view.plan ? print(plan_text(step, view.top)) : void();
    }
    const std::string per_item = text("flops_per_", model.task->item);
    ordered_json document{{"config", ordered_json::parse(config_json_text(model.config))},
                          {"parameters", parameters.count()},
                          {"trained_parameters", trained},
                          {"batch_size", model.sizes.rows}};
    if (model.sizes.length > 0) document["block_size"] = model.sizes.length;
    document["gradient_accumulation_steps"] = micro_batches;
    document["optimizer"] = optimizer;
    document["recompute"] = model.trainer.recompute;
    document[per_item + "_forward"] = forward.flops / model.items();
    document[per_item + "_training"] = step.flops / model.items_in_step();
    document["flops_per_step"] = step.flops;
    for (const Part& p : list)
        document["parts"].push_back(
            {{"part", p.name}, {"parameters", p.parameters}, {"flops_forward", p.forward}, {"flops_training", p.step}});
    document["memory"] = {
        {"inference", memory_document(forward)}, {"training", memory_document(step)}, {"cache", model.cache}};
    if (!model.train_toml.empty()) document["train_toml"] = model.train_toml;
    if (view.explain) explain_in(document, explained);
    if (view.fit) document["fit"] = fits_document(fits, room, generates);
    if (view.plan) document["plan"] = plan_document(step);
    if (view.by_op) document["ops"] = ops_document(step);
    if (view.types) document["types"] = types_document(step);
    if (view.graph) document["graph"] = graph;
    print_json(document);
}

}  // namespace vkf
