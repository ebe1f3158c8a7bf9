#include "apps/inspect/inspect_memory.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/common.h"

namespace vkf {

using nlohmann::ordered_json;

std::string memory_text(const Analysis& inference, const Analysis& training, double cache) {
    const auto bytes = [](std::int64_t n) { return bytes_text(static_cast<double>(n)); };
    const auto row = [&](const char* name, std::int64_t Analysis::*member) {
        return std::vector{std::string(name), bytes(inference.*member), bytes(training.*member)};
    };
    return table({{"memory", "inference", "training"},
                  {"total", bytes(inference.bytes()), bytes(training.bytes())},
                  row("states (parameters, moments)", &Analysis::states),
                  row("constants", &Analysis::constants),
                  row("arena (activations)", &Analysis::arena),
                  row("arena, least possible", &Analysis::bound),
                  row("inputs", &Analysis::inputs),
                  row("outputs", &Analysis::outputs),
                  row("tables of arguments", &Analysis::tables),
                  row("among these, gradients", &Analysis::gradients)}) +
           (cache > 0 ? "keys and values of one sequence in generation: " + bytes_text(cache) + "\n" : "");
}

ordered_json memory_document(const Analysis& a) {
    return {{"total", a.bytes()},       {"arena", a.arena},           {"arena_bound", a.bound}, {"states", a.states},
            {"constants", a.constants}, {"inputs", a.inputs},         {"outputs", a.outputs},   {"tables", a.tables},
            {"gradients", a.gradients}, {"dispatches", a.dispatches}, {"phases", a.phases}};
}

std::string plan_text(const Analysis& a, std::int64_t top) {
    std::vector<std::vector<std::string>> rows{{"bytes", "offset", "first node", "last node", "shape", "made by"}};
    for (const Resident& r : a.residents) {
        if (std::ssize(rows) > top) break;
        rows.push_back({bytes_text(static_cast<double>(r.bytes)), text(r.offset), text(r.first), text(r.last),
                        text(r.shape), r.scope + (r.scope.empty() ? "" : ": ") + r.op});
    }
    return text("\nThe ", rows.size() - 1, " largest of ", a.residents.size(), " tensors of a training step\n",
                table(rows));
}

ordered_json plan_document(const Analysis& a) {
    auto list = ordered_json::array();
    for (const Resident& r : a.residents) {
        const auto extents = r.shape.extents();
        list.push_back({{"scope", r.scope},
                        {"op", r.op},
                        {"shape", std::vector(extents.begin(), extents.end())},
                        {"bytes", r.bytes},
                        {"offset", r.offset},
                        {"first", r.first},
                        {"last", r.last}});
    }
    return list;
}

}  // namespace vkf
