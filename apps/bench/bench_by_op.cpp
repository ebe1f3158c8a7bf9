#include "apps/bench/bench_by_op.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/error.h"

namespace vkf {

std::vector<Measurement> time_by_op(Program& program, const std::string& title, double seconds) {
    std::map<std::string, std::vector<double>> samples;
    std::map<std::string, Measurement> ops;
    bool warm = false;
    time_calls(seconds, [&] {
        program.run();
        if (!std::exchange(warm, true)) return;
        std::map<std::string, double> sums;
        ops.clear();
        std::map<std::string, int> nodes;
        for (const NodeTime& node : program.node_times()) {
            sums[node.op] += node.ms * 1e-3;
            Measurement& op = ops[node.op];
            op.flops += node.flops;
            op.bytes += node.bytes;
            if (op.element.empty()) op.element = matrix_element(node.kernel);
            op.shape = text(++nodes[node.op], " nodes");
        }
        for (const auto& [op, sum] : sums) samples[op].push_back(sum);
    });
    std::vector<Measurement> list;
    for (auto& [name, op] : ops) {
        op.family = title;
        op.name = name;
        op.seconds = timing_of(samples[name]);
        list.push_back(op);
    }
    std::ranges::sort(list, std::ranges::greater(), [](const Measurement& m) { return m.seconds.median; });
    return list;
}

}  // namespace vkf
