#include "apps/check/check_options.h"

#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

std::function<void(DeviceInfo&)> pretence(const CheckOptions& options) {
    if (options.pretend != "small-gpu") return {};
    return [](DeviceInfo& info) {
        info.kind = DeviceKind::integrated;
        info.max_group = 128;
        info.shared_bytes = 16384;
    };
}

checks::CheckTraits check_traits(const Device& device, const CheckOptions& options) {
    const auto pretend = [&](DeviceTraits made) {
        if (!options.pretend.empty()) made.cpu = false;
        return made;
    };
    const auto rounded = [&](Format format) {
        Graph graph;
        graph.activations = format;
        DeviceTraits made = pretend(traits(device, graph));
        return made.rounds_factors() ? std::optional(made) : std::nullopt;
    };
    return {.plain = pretend(traits(device)), .bf16 = rounded(Format::bf16), .f16 = rounded(Format::f16)};
}

}  // namespace vkf
