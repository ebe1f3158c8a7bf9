#include "vulkan/recorder.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "vulkan/buffer.h"
#include "vulkan/kernel/kernel.h"

namespace vkf {

namespace {

std::optional<std::uint64_t> wanted_shuffle() {
    const char* value = std::getenv("VKFORMER_SHUFFLE");
    if (!value) return std::nullopt;
    const std::string_view digits(value);
    std::uint64_t seed = 0;
    const auto [end, problem] = std::from_chars(digits.begin(), digits.end(), seed);
    require(problem == std::errc() && end == digits.end(), "VKFORMER_SHUFFLE is '", digits,
            "', wanted a whole number");
    return seed;
}

}  // namespace

void Recorder::dispatch(const Kernel& kernel, std::span<const std::byte> push, std::uint64_t groups,
                        std::span<const Access> accesses) {
    constexpr std::uint64_t fold = 65535;  // every device allows this many workgroups along x and y
    if (groups == 0) return;
    if (groups > fold * fold) throw Error("kernel ", kernel.name, " wants ", groups, " workgroups in one launch");
    const std::uint64_t x = std::min(groups, fold);
    recording_.add({KernelLaunch{&kernel, {push.begin(), push.end()}, static_cast<std::uint32_t>(x),
                                 static_cast<std::uint32_t>((groups + x - 1) / x)},
                    {accesses.begin(), accesses.end()}});
}

void Recorder::copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
                    std::uint64_t bytes) {
    const std::uint64_t source = from.address() + from_offset, target = to.address() + to_offset;
    recording_.add({BufferCopy{from.handle(), from_offset, to.handle(), to_offset, bytes},
                    {{source, source + bytes, false}, {target, target + bytes, true}}});
}

Commands Recorder::finish() {
    if (const auto seed = wanted_shuffle()) shuffle(recording_, *seed);
    return Commands(device_, std::exchange(recording_, {}));
}

}  // namespace vkf
