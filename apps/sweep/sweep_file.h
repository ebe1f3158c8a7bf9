// The file of a sweep: which runs of `train` it has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/config_file.h"

namespace vkf {

/// One value of every option in the grid.
using GridPoint = std::vector<std::pair<std::string, ConfigValue>>;

/// A sweep: every point of the grid with every seed. In TOML:
///
///     train = "gpt"                                    # the command: vkformer train gpt
///     config = ["configs/shakespeare-char-cpu.toml"]   # files for --config
///     seeds = [1, 2, 3]
///     [options]                                        # of all runs
///     data = "input.txt"
///     [grid]                                           # lists of values
///     attention = ["standard", "belief-star"]
struct Sweep {
    std::string train;
    std::vector<std::string> configs;
    std::vector<std::uint64_t> seeds;
    GridPoint options;
    std::vector<GridPoint> points;  // the last option of the grid changes fastest
};

/// Reads a sweep. Throws InputError "FILE:LINE: …" for a key that it does not know, a value of the wrong kind, a list
/// that is empty or has a value twice, and for more than 10,000 runs.
Sweep read_sweep(const std::filesystem::path& path);

/// One run: its name, which is also that of its directory, and its place in the sweep.
struct SweepRun {
    std::string name;
    const GridPoint* point;
    std::uint64_t seed;
};

/// All runs: those of a seed one after the other, so that pairs are complete early. Throws InputError if two runs have
/// the same name, because their values differ only in characters that names do not have.
std::vector<SweepRun> runs_of(const Sweep& sweep);

/// The point as people write it: "attention belief-star, learning-rate 0.001", or a single option's value.
std::string point_text(const GridPoint& point);

/// Options of a run's point and those of all runs, as a file for --config.
std::string options_toml(const Sweep& sweep, const GridPoint& point);

}  // namespace vkf
