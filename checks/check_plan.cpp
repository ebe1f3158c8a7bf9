#include "checks/check_plan.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "checks/case_graph.h"
#include "passes/run_passes.h"

namespace vkf::checks {

namespace {

/// A table's cases in one format with one choice, of which `next` have been planned.
struct Stream {
    const OpTable* table;
    Format format;
    std::size_t choice;
    std::vector<OpCase> cases;
};

/// Cases in an order that depends on the seed.
std::vector<OpCase> shuffled(const OpTable& table, std::uint64_t seed) {
    std::vector<OpCase> cases = table.cases();
    Random random(seed, table.name);
    for (std::size_t i = cases.size(); i > 1; --i) std::swap(cases[i - 1], cases[random.below(i)]);
    return cases;
}

/// Number of candidates of the problem in the case's graph that has most; 1 if there is no choice.
std::size_t choices_of(const OpCase& c, const DeviceTraits& device) {
    CaseGraph graph(c, differentiable(c));
    run_passes(graph.graph, {.fuse_elementwise = false});
    std::size_t most = 1;
    for (const TuningProblem& problem : tuning_problems(graph.graph, device))
        most = std::max(most, problem.candidates.size());
    return most;
}

std::vector<const OpTable*> wanted_tables(const std::vector<std::string>& only) {
    require_tables(only);
    std::vector<const OpTable*> tables;
    for (const OpTable& table : op_tables())
        if (only.empty() || std::ranges::count(only, table.name) > 0) tables.push_back(&table);
    return tables;
}

}  // namespace

void require_tables(const std::vector<std::string>& names) {
    std::string known;
    for (const OpTable& table : op_tables()) known += text(known.empty() ? "" : ", ", table.name);
    for (const std::string& name : names)
        require(std::ranges::any_of(op_tables(), [&](const OpTable& table) { return name == table.name; }),
                "there is no table of ops ", name, ", wanted one of ", known);
}

std::string name_of(const CheckItem& item) {
    std::string name = text(item.table, ": ", item.c.name);
    if (item.format != Format::f32) name += item.format == Format::bf16 ? ", bf16" : ", f16";
    if (item.choice > 0) name += text(", choice ", item.choice);
    return name;
}

std::vector<CheckItem> check_plan(const DeviceTraits& device, std::uint64_t seed,
                                  const std::vector<std::string>& only) {
    const std::vector<const OpTable*> tables = wanted_tables(only);
    std::vector<Stream> streams;
    std::vector<std::vector<OpCase>> cases;
    for (const OpTable* table : tables) cases.push_back(shuffled(*table, seed));
    for (const Format format : {Format::f32, Format::bf16, Format::f16})
        for (std::size_t i = 0; i < tables.size(); ++i) streams.push_back({tables[i], format, 0, cases[i]});
    for (std::size_t i = 0; i < tables.size(); ++i) {
        std::vector<std::size_t> choices;
        for (const OpCase& c : cases[i]) choices.push_back(choices_of(c, device));
        const std::size_t most = *std::ranges::max_element(choices);
        for (std::size_t choice = 1; choice < most; ++choice) {
            Stream stream{tables[i], Format::f32, choice, {}};
            for (std::size_t k = 0; k < cases[i].size(); ++k)
                if (choices[k] > choice) stream.cases.push_back(cases[i][k]);
            streams.push_back(std::move(stream));
        }
    }
    std::vector<CheckItem> plan;
    std::size_t longest = 0;
    for (const Stream& stream : streams) longest = std::max(longest, stream.cases.size());
    for (std::size_t round = 0; round < longest; ++round)
        for (const Stream& stream : streams)
            if (round < stream.cases.size())
                plan.push_back({stream.table->name, stream.cases[round], stream.format, stream.choice});
    return plan;
}

std::size_t ChosenCandidate::choose(const DeviceTraits&, const TuningProblem& problem) {
    const std::size_t index = std::min(choice_, problem.candidates.size() - 1);
    const std::pair pair{problem.family, problem.candidates[index]};
    if (std::ranges::count(chosen_, pair) == 0) chosen_.push_back(pair);
    return index;
}

}  // namespace vkf::checks
