#include "apps/train/train_memory.h"

#include <algorithm>
#include <string>
#include <vector>

#include "apps/cli/common.h"
#include "apps/inspect/analysis.h"
#include "apps/train/run_options.h"
#include "base/os/memory.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Changes to a run's options that make it smaller.
struct Savings {
    bool recompute = false, mixed = false;
    std::int64_t cut = 1;  // parts of the batch, accumulated
};

/// Bytes that a trainer's programs hold.
std::int64_t bytes_of(const Device& device, const RunOptions& o, const BatchLoss& loss, const Savings& savings) {
    TrainerConfig config = o.trainer;
    const std::int64_t rows = o.batch_size / savings.cut;
    config.gradient_accumulation_steps *= savings.cut;
    config.recompute = config.recompute || savings.recompute;
    if (savings.mixed) config.activations = Format::bf16;
    return analyse_run(loss(rows, false), loss(rows, true), with_device_defaults(config, device),
                       [&](const Graph& graph) { return traits(device, graph); })
        .bytes();
}

std::string words(const RunOptions& o, const Savings& savings) {
    std::string list;
    if (savings.cut > 1)
        list += text(" ", o.batch_option.name, " ", o.batch_size / savings.cut, " --gradient-accumulation-steps ",
                     o.trainer.gradient_accumulation_steps * savings.cut);
    if (savings.recompute) list += " --recompute";
    if (savings.mixed) list += " --precision mixed";
    return list;
}

/// Savings in three rounds: one saving alone, least first, then two at once, then three.
std::vector<std::vector<Savings>> rounds_of_savings(const RunOptions& o) {
    std::vector<Savings> cuts;
    for (std::int64_t n = 2; n <= o.batch_size && cuts.size() < 8; ++n)
        if (o.batch_size % n == 0) cuts.push_back({.cut = n});
    const bool again = !o.trainer.recompute, narrow = o.trainer.activations == Format::f32;
    std::vector<std::vector<Savings>> rounds(3);
    if (again) rounds[0].push_back({.recompute = true});
    if (narrow) rounds[0].push_back({.mixed = true});
    if (again && narrow) rounds[1].push_back({.recompute = true, .mixed = true});
    for (const Savings& at : cuts) {
        rounds[0].push_back(at);
        if (again) rounds[1].push_back({.recompute = true, .cut = at.cut});
        if (narrow) rounds[1].push_back({.mixed = true, .cut = at.cut});
        if (again && narrow) rounds[2].push_back({.recompute = true, .mixed = true, .cut = at.cut});
    }
    return rounds;
}

}  // namespace

std::int64_t require_memory(const Device& device, const RunOptions& o, const BatchLoss& loss) {
    const auto room = static_cast<std::int64_t>(device.free_bytes());
    const auto size = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
    const std::int64_t wanted = bytes_of(device, o, loss, {});
    if (wanted <= room) return wanted;
    std::string fits, least;
    std::int64_t fewest = wanted;
    for (const std::vector<Savings>& round : rounds_of_savings(o)) {
        bool cut = false;  // true if a smaller batch fits; the largest is enough
        for (const Savings& savings : round) {
            if (cut && savings.cut > 1) continue;
            const std::int64_t bytes = bytes_of(device, o, loss, savings);
            const std::string with = text(words(o, savings), " (", size(bytes), ")");
            if (bytes < fewest) fewest = bytes, least = with;
            if (bytes > room) continue;
            fits += (fits.empty() ? "" : " or") + with;
            cut = savings.cut > 1;
        }
        if (!fits.empty()) break;
    }
    throw Error("training takes ", size(wanted), " of memory, ", device.info().name, " has ", size(room), " free",
                memory_limits(), "; ",
                !fits.empty()    ? "it fits with" + fits
                : !least.empty() ? "even" + least + " is more"
                                 : "nothing that it can do without makes it smaller");
}

}  // namespace vkf
