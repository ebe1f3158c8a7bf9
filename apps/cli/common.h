// Shared by all subcommands: common options, printing, opening a device.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/tensor.h"

namespace vkf::cli {
class Command;
struct Check;
}  // namespace vkf::cli

namespace vkf {

class Device;
struct TuningCachePlace;

/// Options that every subcommand has.
struct Common {
    std::string device;  // index or part of a name; empty: $VKFORMER_DEVICE, else the best device
    std::string precision = "fp32";
    std::string kernels = "auto";  // implementation of matrix products: program/autotuner.h
    std::string half;              // 16-bit type of mixed precision: bfloat16 (also if empty) or float16
    std::uint64_t seed = 1337;
    bool json = false;
    bool quiet = false;
    std::string command_line;  // as a shell reads it, the program without its directory

    /// Storage format of activations.
    Format activations() const {
        return precision != "mixed" ? Format::f32 : half == "float16" ? Format::f16 : Format::bf16;
    }
};

void add_common(cli::Command& app, Common& common);

/// Opens the wanted device, lets it choose its kernels by --kernels, and calls `work`. Throws Error if the validation
/// layers complained meanwhile.
void with_device(const Common& common, const std::function<void(Device&)>& work);

/// Folder that keeps tuned kernels between runs; nothing if there is no folder for them.
std::optional<TuningCachePlace> tuning_cache_place();

/// Device that the user asked for: --device, else VKFORMER_DEVICE, else "".
std::string wanted_device(const Common& common);

// --- Standard output, for results only -----------------------------------------------------------

/// Thrown if the reader of standard output closed it (`| head`); the program ends quietly with status 1.
struct ClosedOutput {};

/// Writes plain text (base/text/plain_text.h) to standard output. Throws ClosedOutput, or Error with the system's
/// reason.
void print(std::string_view text);

/// Prints the one document of --json, numbers with ten digits (base/text/json_text.h).
void print_json(const nlohmann::ordered_json& document);

/// Rows in aligned columns, numbers to the right. Each cell is a short plain line; each line ends with a line end.
std::string table(const std::vector<std::vector<std::string>>& rows);

std::string fixed(double value, int digits);  // "1.2346" with four digits
std::string bytes_text(double bytes);         // "1.5 MiB"
std::string count_text(double count);         // "124.4 M"
std::string percent_text(double share);       // 0.5 → "50.00 %"; NaN → "none"

// --- Standard error, for people ------------------------------------------------------------------

/// Prints "vkformer: note: …" unless --quiet.
void note(const Common& common, std::string_view text);

// --- Values of options ---------------------------------------------------------------------------

/// Checks for a whole number, and for a number, of at least `least`.
cli::Check whole(std::int64_t least);
cli::Check at_least(double least);

/// Throws InputError unless the directory of the output file exists.
void require_directory_of(const std::string& output);

}  // namespace vkf
