// Parameters, work and memory of a model by formula beside the exact numbers; `inspect --explain`.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/inspect/analysis.h"
#include "apps/inspect/inspected_model.h"

namespace vkf {

/// Exact numbers of a model: those of its graphs.
struct ExactNumbers {
    const Parameters& parameters;
    const Analysis& forward;                  // logits of a batch
    const Analysis& step;                     // a training step of all micro-batches
    std::optional<Analysis> generation = {};  // of one text, by models that write texts
};

/// Analyses the programs that write one text; nothing if the model writes none.
std::optional<Analysis> analyse_generation(const InspectedModel& model, const TraitsFor& traits_for);

/// A quantity by formula and exactly.
struct ExplainedQuantity {
    enum class Unit : std::uint8_t { count, flops, bytes };

    std::string quantity, formula;
    double by_formula = 0, exact = 0;
    Unit unit = Unit::count;
};

struct Explanation {
    std::vector<std::string> symbols;  // values of the symbols, one line per stack of blocks
    std::vector<ExplainedQuantity> quantities;
    std::vector<std::string> differences;  // sentences
};

/// Compares the formulas of a model's family (models/families/accounting.h) with exact numbers. Throws InputError if
/// the family has none.
Explanation explain(const InspectedModel& model, const ExactNumbers& exact);

std::string explanation_text(const Explanation& explanation);
/// Adds the explanation to the document of a model.
void explain_in(nlohmann::ordered_json& document, const Explanation& explanation);

}  // namespace vkf
