#include "apps/inspect/inspect_ops.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "apps/cli/common.h"

namespace vkf {

namespace {

std::vector<NodeCost> ops_of(const Analysis& a) {
    std::vector<NodeCost> list;
    for (const NodeCost& cost : a.costs) {
        const auto alike = [&](const NodeCost& at) { return at.part == cost.part && at.op == cost.op; };
        const auto found = std::ranges::find_if(list, alike);
        NodeCost& sum = found != list.end() ? *found : list.emplace_back(NodeCost{cost.part, cost.op});
        sum.flops += cost.flops;
        sum.dispatches += cost.dispatches;
        sum.phases += cost.phases;
        sum.touched += cost.touched;
    }
    std::ranges::stable_sort(list, std::greater(), &NodeCost::touched);
    return list;
}

}  // namespace

std::string ops_text(const Analysis& a) {
    std::vector<std::vector<std::string>> rows{{"op", "dispatches", "phases", "FLOPs", "bytes"}};
    NodeCost total{"", "total"};
    const auto add = [&](const NodeCost& at) {
        rows.push_back({at.part + (at.part.empty() ? "" : ": ") + at.op, text(at.dispatches), text(at.phases),
                        count_text(at.flops), bytes_text(static_cast<double>(at.touched))});
    };
    for (const NodeCost& at : ops_of(a)) {
        add(at);
        total.flops += at.flops, total.dispatches += at.dispatches;
        total.phases += at.phases, total.touched += at.touched;
    }
    add(total);
    return text(
        "\nThe ops of a training step: a phase begins with a barrier; bytes are of what each dispatch is given\n",
        table(rows));
}

nlohmann::ordered_json ops_document(const Analysis& a) {
    auto list = nlohmann::ordered_json::array();
    for (const NodeCost& at : ops_of(a))
        list.push_back({{"part", at.part},
                        {"op", at.op},
                        {"dispatches", at.dispatches},
                        {"phases", at.phases},
                        {"flops", at.flops},
                        {"bytes", at.touched}});
    return list;
}

}  // namespace vkf
