// The order in which the kernels of a device are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checks/batch_invariance.h"
#include "checks/device/device_probes.h"
#include "checks/op_tables.h"
#include "graph/autotuner.h"
#include "graph/op.h"

namespace vkf::checks {

/// One check: a case with values stored in a format, by one of the kernels that could compute it.
struct CheckItem {
    const char* table = "";
    OpCase c;
    Format format = Format::f32;
    std::size_t choice = 0;              // index of the candidate where an autotuner has a choice; 0 is what it prefers
    Bounds bounds = {};                  // set if the case has bounds of its own
    bool rounded = false;                // products may round their operands to the elements of matrices
    const RowCase* rows = nullptr;       // set for a look at batch invariance, instead of `c`
    const DeviceProbe* probe = nullptr;  // set for a probe of the device, instead of `c`
};

/// Traits of a device for lowering.
struct CheckTraits {
    DeviceTraits plain;                     // without cooperative matrices
    std::optional<DeviceTraits> bf16, f16;  // with those for values stored in this format, if the device has any

    const DeviceTraits& of(const CheckItem& item) const;
};

/// "norm: layer norm of 17", "matmul: NN 5 6 7, bf16, choice 2". Unique in a plan.
std::string name_of(const CheckItem& item);

/// All checks for a device, so ordered that a run that is stopped early has seen as much as possible: one case of each
/// table, in each format and with each choice, then the next case of each. The order of a table's cases depends on the
/// seed alone. `only`: names of tables, or all if it is empty. Throws as require_tables() does.
std::vector<CheckItem> check_plan(const CheckTraits& device, std::uint64_t seed,
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
