#include "apps/inspect/inspect_fit.h"

#include <algorithm>
#include <functional>

#include "apps/cli/common.h"
#include "apps/inspect/inspect.h"
#include "models/families/accounting.h"
#include "models/families/family.h"

namespace vkf {

namespace {

/// Changes one size of a model.
using Change = std::function<void(InspectedModel&, std::int64_t size)>;

struct Question {
    Fit fit;  // without its answers
    Change change;
    std::int64_t most = 1'000'000'000;  // largest size that is tried
};

/// Bounds of the time that graphs of many nodes, and tables of many positions, take.
constexpr std::int64_t MOST_LAYERS = 1024, MOST_CONTEXT = std::int64_t{1} << 20;

std::vector<Question> questions(const InspectedModel& model) {
    std::vector<Question> list{{{.key = "batch_size", .one = "one row of a batch", .many = "rows of a batch"},
                                [](InspectedModel& changed, std::int64_t rows) { changed.sizes.rows = rows; }}};
    if (model.config.has(Dimension::context))
        list.push_back({{.key = "context", .one = "one token of context", .many = "tokens of context"},
                        [](InspectedModel& changed, std::int64_t length) {
                            changed.config.set(Dimension::context, length);
                            changed.sizes.length = length;
                        },
                        MOST_CONTEXT});
    const Accounting* accounting = model.config.family().accounting;
    if (!accounting) return list;
    const ModelScale scale = accounting->scale(model.config);
    Fit layers{.key = "layers", .one = "one layer", .many = "layers", .resizes = true};
    Fit heads{.key = "heads", .one = "one head", .many = "heads", .resizes = true};
    if (accounting->sizes) {
        const ModelSizes sizes = accounting->sizes(model.config, model.sizes.length);
        if (sizes.blocks.size() > 1) layers.many = "layers of each stack";
        if (sizes.blocks.front().keys < sizes.blocks.front().queries) heads.many = "heads of keys and values";
    }
    list.push_back({layers,
                    [=](InspectedModel& changed, std::int64_t count) {
                        accounting->resize(changed.config, {.layers = count, .heads = scale.heads});
                    },
                    MOST_LAYERS});
    list.push_back({heads, [=](InspectedModel& changed, std::int64_t count) {
                        accounting->resize(changed.config, {.layers = scale.layers, .heads = count});
                    }});
    return list;
}

Analysis training_memory(const InspectedModel& model, const TraitsFor& traits_for) {
    return analyse_run(model.loss(), model.loss(true), model.trainer, traits_for);
}

Analysis inference_memory(const InspectedModel& model, const TraitsFor& traits_for) {
    std::vector<GraphBuilder> programs = model.generation(model.sizes.rows);
    if (programs.empty())
        programs.emplace_back([&](const Scope& scope) {
            scope.graph().output("logits", model.task->logits(scope, model.config, model.sizes));
        });
    return analyse_together(programs, model.trainer.activations, traits_for);
}

std::int64_t parameters_of(const InspectedModel& model) {
    Graph graph;
    Parameters parameters;
    model.task->loss(Scope(graph, parameters), model.config, {.rows = 1, .length = model.sizes.length}, false);
    return parameters.count();
}

std::string size_text(std::int64_t bytes) {
    return bytes_text(static_cast<double>(bytes));
}

FittedSize fitted(const InspectedModel& model, const Question& question, const TraitsFor& traits_for, const Room& room,
                  Analysis (*memory)(const InspectedModel&, const TraitsFor&)) {
    const auto changed = [&](std::int64_t size) {
        InspectedModel made = model;
        question.change(made, size);
        return made;
    };
    const auto demand = [&](std::int64_t size) -> Demand {
        try {
            const InspectedModel made = changed(size);
            require_buildable(made.config);
            const Analysis taken = memory(made, traits_for);
            if (taken.largest <= room.buffer) return {.bytes = taken.bytes()};
            return {.bytes = taken.bytes(),
                    .refusal = text("a tensor takes ", size_text(taken.largest), ", and the largest buffer of ",
                                    room.device, " has ", size_text(room.buffer))};
        } catch (const InputError& error) {
            return {.refusal = error.what()};
        }
    };
    FittedSize made{.largest = largest_size(demand, room.bytes, question.most)};
    if (made.largest.size == 0) return made;
    const InspectedModel largest = changed(made.largest.size);
    made.parameters = parameters_of(largest);
    if (const Accounting* accounting = largest.config.family().accounting)
        made.width = accounting->scale(largest.config).width;
    return made;
}

/// Bytes of parameters that each position has.
std::int64_t bytes_of_position(const InspectedModel& model) {
    InspectedModel longer = model;
    longer.config.set(Dimension::context, model.config.size(Dimension::context) + 1);
    return bytes_of(parameters_of(longer) - parameters_of(model), Format::f32);
}

/// Throws Error if no size of any question fits.
void require_some(const std::vector<Fit>& fits, const Room& room) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::string smallest;
    for (const Fit& fit : fits)
        for (const FittedSize* at : {&fit.training, &fit.inference}) {
            if (at->largest.size > 0) return;
            if (!at->largest.next.refusal.empty() || at->largest.next.bytes >= least) continue;
            least = at->largest.next.bytes;
            smallest = text(at == &fit.training ? "training" : "inference", " with ", fit.one);
        }
    throw Error("nothing fits in ", size_text(room.bytes), ": ",
                smallest.empty() ? fits.front().training.largest.next.refusal
                                 : text("even ", smallest, " takes ", size_text(least)));
}

}  // namespace

std::vector<Fit> find_fits(const InspectedModel& model, const TraitsFor& traits_for, const Room& room) {
    std::vector<Fit> fits;
    for (const Question& question : questions(model)) {
        Fit& fit = fits.emplace_back(question.fit);
        fit.training = fitted(model, question, traits_for, room, training_memory);
        fit.inference = fitted(model, question, traits_for, room, inference_memory);
        if (fit.key != "context") continue;
        if (const std::int64_t bytes = bytes_of_position(model); bytes > 0)
            fit.note = text("Positions are a learned table, which a longer context makes larger, by ", bytes,
                            " bytes a position. A trained model has no rows beyond its own ",
                            model.config.size(Dimension::context).value, ".");
    }
    require_some(fits, room);
    return fits;
}

}  // namespace vkf
