#include "vulkan/races.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "vulkan/kernel/kernel.h"

namespace vkf::test {

namespace {

struct Touch {
    Access access;
    std::size_t command;
};

/// Remembers the touch that ends last, and the one that ends last among those of all other commands.
class Furthest {
public:
    void see(const Touch& touch) {
        if (!first_ || touch.access.end > first_->access.end) {
            if (first_ && first_->command != touch.command) second_ = first_;
            first_ = &touch;
        } else if (touch.command != first_->command && (!second_ || touch.access.end > second_->access.end)) {
            second_ = &touch;
        }
    }
    const Touch* of_others(std::size_t command) const {
        return first_ && first_->command == command ? second_ : first_;
    }

private:
    const Touch* first_ = nullptr;
    const Touch* second_ = nullptr;
};

std::string name_of(const Command& command) {
    const auto* launch = std::get_if<KernelLaunch>(&command.what);
    return !launch ? "a copy" : launch->kernel ? launch->kernel->name : "a kernel";
}

std::string words(const Phase& phase, const Touch& touch) {
    return text(name_of(phase.commands[touch.command]), " (command ", touch.command, ") ",
                touch.access.writes ? "writes" : "reads", " [", touch.access.begin, ", ", touch.access.end, ")");
}

}  // namespace

std::string race(const Phase& phase) {
    std::vector<Touch> touches;
    for (std::size_t i = 0; i < phase.commands.size(); ++i)
        for (const Access& access : phase.commands[i].accesses)
            if (access.begin < access.end) touches.push_back({access, i});
    std::ranges::sort(touches, {}, [](const Touch& touch) { return touch.access.begin; });
    Furthest all, writes;
    for (const Touch& touch : touches) {
        const Touch* before = (touch.access.writes ? all : writes).of_others(touch.command);
        if (before && before->access.end > touch.access.begin)
            return words(phase, *before) + " while " + words(phase, touch);
        all.see(touch);
        if (touch.access.writes) writes.see(touch);
    }
    return {};
}

std::string race(const Recording& recording) {
    for (const Segment& segment : recording.segments)
        for (const Phase& phase : segment)
            if (const std::string found = race(phase); !found.empty()) return found;
    return {};
}

Phase without_barrier(const Phase& before, const Phase& after) {
    Phase both = before;
    both.commands.insert(both.commands.end(), after.commands.begin(), after.commands.end());
    return both;
}

std::string misstated(const Command& command) {
    const auto stated = [&](std::uint64_t begin, bool writes) {
        return std::ranges::any_of(command.accesses,
                                   [&](const Access& at) { return at.begin == begin && at.writes == writes; });
    };
    if (const auto* copy = std::get_if<BufferCopy>(&command.what)) {
        const auto whole = [&](const Access& access) { return access.end - access.begin == copy->bytes; };
        const bool right = command.accesses.size() == 2 && std::ranges::all_of(command.accesses, whole) &&
                           command.accesses[0].writes != command.accesses[1].writes;
        return right ? "" : "a copy does not read and write what it copies";
    }
    const auto& launch = std::get<KernelLaunch>(command.what);
    for (const ArgMember& member : launch.kernel->reflection.args) {
        if (member.kind != ArgKind::address) continue;
        std::uint64_t address = 0;
        std::memcpy(&address, launch.push.data() + member.offset, sizeof address);
        if (address == 0) continue;
        if (!member.reads && !member.writes) return text(launch.kernel->name, " has no use for its ", member.name);
        if (member.reads && !stated(address, false)) return text(launch.kernel->name, " reads its ", member.name);
        if (member.writes && !stated(address, true)) return text(launch.kernel->name, " writes its ", member.name);
    }
    return {};
}

}  // namespace vkf::test
