// The order in which the kernels of a device are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/op_tables.h"
#include "graph/autotuner.h"
#include "graph/op.h"

namespace vkf::checks {

/// One check: a case with values stored in a format, by one of the kernels that could compute it.
struct CheckItem {
    const char* table = "";
    OpCase c;
    Format format = Format::f32;
    std::size_t choice = 0;  // index of the candidate where an autotuner has a choice; 0 is what it prefers
};

/// "norm: layer norm of 17", "matmul: NN 5 6 7, bf16, choice 2". Unique in a plan.
std::string name_of(const CheckItem& item);

/// All checks for a device, so ordered that a run that is stopped early has seen as much as possible: one case of each
/// table, in each format and with each choice, then the next case of each. The order of a table's cases depends on the
/// seed alone. `only`: names of tables, or all if it is empty. Throws as require_tables() does.
std::vector<CheckItem> check_plan(const DeviceTraits& device, std::uint64_t seed,
                                  const std::vector<std::string>& only = {});

/// Throws InputError if a name is not that of a table.
void require_tables(const std::vector<std::string>& names);

/// Takes the candidate of a given index, or the last one, and records each choice.
class ChosenCandidate : public Autotuner {
public:
    explicit ChosenCandidate(std::size_t choice) : choice_(choice) {}
    std::size_t choose(const DeviceTraits& device, const TuningProblem& problem) override;

    /// "FAMILY: CANDIDATE" of each problem, once.
    const std::vector<std::pair<std::string, std::string>>& chosen() const { return chosen_; }

private:
    std::size_t choice_;
    std::vector<std::pair<std::string, std::string>> chosen_;
};

}  // namespace vkf::checks
