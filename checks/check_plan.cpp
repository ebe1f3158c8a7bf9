#include "checks/check_plan.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "checks/case_graph.h"
#include "passes/run_passes.h"

namespace vkf::checks {

namespace {

/// Checks of one table in one format with one choice.
using Stream = std::vector<CheckItem>;

/// Values in an order that depends on the seed.
template <class Case>
std::vector<Case> shuffled(std::vector<Case> cases, const char* table, std::uint64_t seed) {
    Random random(seed, table);
    for (std::size_t i = cases.size(); i > 1; --i) std::swap(cases[i - 1], cases[random.below(i)]);
    return cases;
}

/// Number of candidates of the problem in the case's graph that has most; 1 if there is no choice.
std::size_t choices_of(const CheckItem& item, const DeviceTraits& device) {
    CaseGraph graph(item.c, differentiable(item.c), item.format);
    run_passes(graph.graph, {.fuse_elementwise = false});
    std::size_t most = 1;
    for (const TuningProblem& problem : tuning_problems(graph.graph, device))
        most = std::max(most, problem.candidates.size());
    return most;
}

/// Adds a stream for each further choice that the checks of a stream have.
void add_choices(const Stream& first, const CheckTraits& device, std::vector<Stream>& streams) {
    std::vector<std::size_t> choices;
    for (const CheckItem& item : first) choices.push_back(choices_of(item, device.of(item)));
    const std::size_t most = first.empty() ? 1 : *std::ranges::max_element(choices);
    for (std::size_t choice = 1; choice < most; ++choice) {
        Stream& stream = streams.emplace_back();
        for (std::size_t i = 0; i < first.size(); ++i)
            if (choices[i] > choice) stream.push_back(first[i]), stream.back().choice = choice;
    }
}

constexpr const char *row_table = "rows", *probe_table = "device";

bool is_wanted(const char* table, const std::vector<std::string>& only) {
    return only.empty() || std::ranges::count(only, table) > 0;
}

/// Streams of tables that are computed in fp32, whatever values are stored in.
void add_tables(const CheckTraits& device, std::uint64_t seed, const std::vector<std::string>& only,
                std::vector<Stream>& streams) {
    const std::size_t begin = streams.size();
    for (const Format format : {Format::f32, Format::bf16, Format::f16})
        for (const OpTable& table : op_tables()) {
            if (!is_wanted(table.name, only)) continue;
            Stream& stream = streams.emplace_back();
            for (OpCase& c : shuffled(table.cases(), table.name, seed))
                stream.push_back({table.name, std::move(c), format});
        }
    const std::size_t tables = (streams.size() - begin) / 3;
    for (std::size_t i = 0; i < tables; ++i) add_choices(Stream(streams[begin + i]), device, streams);
}

void add_bounded_tables(std::uint64_t seed, const std::vector<std::string>& only, std::vector<Stream>& streams) {
    for (const BoundedTable& table : bounded_tables()) {
        if (!is_wanted(table.name, only)) continue;
        Stream& stream = streams.emplace_back();
        for (BoundedCase& at : shuffled(table.cases(), table.name, seed))
            stream.push_back({.table = table.name, .c = std::move(at.c), .bounds = std::move(at.bounds)});
    }
}

/// Streams of tables whose products round their operands.
void add_rounded_tables(const CheckTraits& device, std::uint64_t seed, const std::vector<std::string>& only,
                        std::vector<Stream>& streams) {
    for (const BoundedTable& table : rounded_tables())
        for (const Format format : {Format::bf16, Format::f16}) {
            if (!is_wanted(table.name, only) || !(format == Format::bf16 ? device.bf16 : device.f16)) continue;
            Stream stream;
            for (BoundedCase& at : shuffled(table.cases(), table.name, seed))
                stream.push_back({.table = table.name,
                                  .c = std::move(at.c),
                                  .format = format,
                                  .bounds = std::move(at.bounds),
                                  .rounded = true});
            streams.push_back(stream);
            add_choices(stream, device, streams);
        }
}

}  // namespace

void require_tables(const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const OpTable& table : op_tables()) known.emplace_back(table.name);
    for (const BoundedTable& table : bounded_tables()) known.emplace_back(table.name);
    for (const BoundedTable& table : rounded_tables()) known.emplace_back(table.name);
    known.emplace_back(row_table);
    known.emplace_back(probe_table);
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    for (const std::string& name : names)
        require(std::ranges::count(known, name) > 0, "there is no table of ops ", name, ", wanted one of ", list);
}

const DeviceTraits& CheckTraits::of(const CheckItem& item) const {
    return !item.rounded ? plain : item.format == Format::bf16 ? bf16.value() : f16.value();
}

std::string name_of(const CheckItem& item) {
    std::string name = text(item.table, ": ",
                            item.rows    ? item.rows->name
                            : item.probe ? item.probe->name
                                         : item.c.name);
    if (item.format != Format::f32) name += item.format == Format::bf16 ? ", bf16" : ", f16";
    if (item.choice > 0) name += text(", choice ", item.choice);
    return name;
}

std::vector<CheckItem> check_plan(const CheckTraits& device, std::uint64_t seed, const std::vector<std::string>& only) {
    require_tables(only);
    std::vector<Stream> streams;
    add_tables(device, seed, only, streams);
    add_bounded_tables(seed, only, streams);
    add_rounded_tables(device, seed, only, streams);
    for (const Format format : {Format::f32, Format::bf16}) {
        Stream stream;
        for (const RowCase& rows : row_cases()) stream.push_back({.table = row_table, .format = format, .rows = &rows});
        if (is_wanted(row_table, only)) streams.push_back(std::move(stream));
    }
    Stream probes;
    for (const DeviceProbe& probe : device_probes()) probes.push_back({.table = probe_table, .probe = &probe});
    if (is_wanted(probe_table, only)) streams.push_back(std::move(probes));
    std::vector<CheckItem> plan;
    std::size_t longest = 0;
    for (const Stream& stream : streams) longest = std::max(longest, stream.size());
    for (std::size_t round = 0; round < longest; ++round)
        for (const Stream& stream : streams)
            if (round < stream.size()) plan.push_back(stream[round]);
    return plan;
}

std::size_t ChosenCandidate::choose(const DeviceTraits&, const TuningProblem& problem) {
    const std::size_t index = std::min(choice_, problem.candidates.size() - 1);
    const std::pair pair{problem.family, problem.candidates[index]};
    if (std::ranges::count(chosen_, pair) == 0) chosen_.push_back(pair);
    return index;
}

}  // namespace vkf::checks
