// The device's subgroups as kernels find them, compared with the size that kernels are compiled for.
#include <algorithm>

#include "checks/op_tables.h"

namespace vkf::checks {

namespace {

/// y [groups, 4]: shaders/check/subgroup_facts.comp. All findings hold.
class SubgroupFactsOp : public Op {
public:
    explicit SubgroupFactsOp(std::int64_t groups) : groups_(groups) {}

    std::string_view name() const override { return "subgroup_facts"; }

    std::vector<TensorType> infer(std::span<const TensorType>) const override { return {{DType::f32, {groups_, 4}}}; }

    bool reference(std::span<const Array>, std::span<Array> out) const override {
        for (double& y : out[0].at) y = 1;
        return true;
    }

    void lower(Lowering& lowering) const override {
        const std::int64_t group =
            lowering.device.cpu ? lowering.device.subgroup_size
                                : std::min<std::int64_t>(4 * lowering.device.subgroup_size, lowering.device.max_group);
        lowering.dispatch({.kernel = "subgroup_facts",
                           .constants = {{"GROUP", checked_u32(group)}},
                           .args = {{"y", lowering.out[0]}, {"groups", checked_u32(groups_)}},
                           .groups = static_cast<std::uint64_t>(groups_),
                           .bytes = 16.0 * static_cast<double>(groups_)});
    }

private:
    std::int64_t groups_;
};

}  // namespace

std::vector<OpCase> subgroup_facts_cases() {
    return {{.name = "size, sum, votes, shuffle",
             .operands = {fixed({1})},
             .build = [](Inputs x) { return std::vector{add_one(x[0].graph(), SubgroupFactsOp(70), {})}; },
             .ulps = 0}};
}

}  // namespace vkf::checks
