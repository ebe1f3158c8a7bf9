// Time that a program spends in each op.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/bench.h"
#include "program/program.h"

namespace vkf {

/// Times a program's nodes, summed by op, longest time first. The program takes timestamps; its operands are already
/// written. A barrier and a timestamp around every node make the sum longer than the program's time without them. Runs
/// last `seconds`; the first run is not counted.
std::vector<Measurement> time_by_op(Program& program, const std::string& title, double seconds);

}  // namespace vkf
