#include "vulkan/recording.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace vkf {

void Recording::add(Command command) {
    Segment& segment = segments.back();
    const auto conflicts = [&](const Command& other) { return conflict(other.accesses, command.accesses); };
    const std::size_t closed = segment.size() - std::min(open_phases, segment.size());
    std::size_t at = segment.size();
    while (at > closed && std::ranges::none_of(segment[at - 1].commands, conflicts))
        if (segment[--at].stamped) break;
    if (at == segment.size()) segment.emplace_back();
    segment[at].commands.push_back(std::move(command));
}

void Recording::stamp() {
    segments.back().push_back({.stamped = true, .commands = {}});
}

void Recording::cut() {
    segments.emplace_back(1);
}

std::size_t Recording::barriers() const {
    std::size_t count = 0;
    for (const Segment& segment : segments) count += segment.size() - 1;
    return count;
}

std::size_t Recording::stamps() const {
    std::size_t count = 0;
    for (const Segment& segment : segments)
        count += static_cast<std::size_t>(std::ranges::count(segment, true, &Phase::stamped));
    return count;
}

void shuffle(Recording& recording, std::uint64_t seed) {
    Random random(seed, "order of commands");
    for (Segment& segment : recording.segments)
        for (Phase& phase : segment) {
            std::vector<Command> mixed;
            for (const std::size_t i : random.permutation(phase.commands.size()))
                mixed.push_back(std::move(phase.commands[i]));
            phase.commands = std::move(mixed);
        }
}

}  // namespace vkf
