// Which ops a program spends its time in.
#pragma once

#include <string>
#include <vector>

#include "apps/bench.h"
#include "program/program.h"

namespace vkf {

/// The nodes of a program that takes timestamps, by what they compute, most time first; its operands are in place. A
/// barrier and a timestamp around every node make them together slower than the program is without. The first of the
/// runs, which last `seconds`, is not counted.
std::vector<Measurement> time_by_op(Program& program, const std::string& title, double seconds);

}  // namespace vkf
