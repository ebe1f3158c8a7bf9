// Places of barriers, commands that may be shuffled, and detection of races.

#include "vulkan/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "base/random.h"
#include "vulkan/races.h"

namespace vkf::test {
namespace {

constexpr Access read(std::uint64_t begin, std::uint64_t end) {
    return {begin, end, false};
}
constexpr Access write(std::uint64_t begin, std::uint64_t end) {
    return {begin, end, true};
}

/// A command, identified by its number of workgroups.
Command command(std::uint32_t x, std::vector<Access> accesses) {
    return {KernelLaunch{.x = x, .y = 1}, std::move(accesses)};
}

/// Numbers of the commands, phase by phase.
std::vector<std::vector<std::uint32_t>> phases(const Segment& segment) {
    std::vector<std::vector<std::uint32_t>> found;
    for (const Phase& phase : segment) {
        found.emplace_back();
        for (const Command& at : phase.commands) found.back().push_back(std::get<KernelLaunch>(at.what).x);
    }
    return found;
}

using Phases = std::vector<std::vector<std::uint32_t>>;

TEST(HostRecording, BeginsAPhaseWhereCommandsConflict) {
    Recording made;
    made.add(command(1, {write(0, 10)}));
    made.add(command(2, {write(10, 20)}));
    made.add(command(3, {read(0, 10), write(20, 30)}));  // read after write
    made.add(command(4, {read(5, 6), write(30, 40)}));
    made.add(command(5, {write(9, 10)}));                // write after read
    made.add(command(6, {read(10, 20), write(9, 11)}));  // write after write
    made.add(command(7, {}));
    EXPECT_EQ(phases(made.segments.at(0)), (Phases{{1, 2}, {3, 4}, {5}, {6, 7}}));
    EXPECT_EQ(made.barriers(), 3U);
    EXPECT_EQ(race(made), "");
}

TEST(HostRecording, CommandsJoinTheEarliestOpenPhaseBehindWhatTheyConflictWith) {
    const auto recorded = [](std::size_t open_phases) {
        Recording made;
        made.open_phases = open_phases;
        made.add(command(1, {write(0, 10)}));
        made.add(command(2, {read(0, 10), write(10, 20)}));
        made.add(command(3, {read(10, 20), write(20, 30)}));
        made.add(command(4, {read(20, 30), write(30, 40)}));
        made.add(command(5, {read(0, 10), write(40, 50)}));  // may join 2
        made.add(command(6, {write(50, 60)}));               // may join 1
        made.add(command(7, {write(0, 10)}));                // read by 2 and 5
        EXPECT_EQ(race(made), "");
        return phases(made.segments.at(0));
    };
    EXPECT_EQ(recorded(1), (Phases{{1}, {2}, {3}, {4, 5, 6}, {7}}));
    EXPECT_EQ(recorded(2), (Phases{{1}, {2}, {3, 5, 6}, {4, 7}}));
    EXPECT_EQ(recorded(9), (Phases{{1, 6}, {2, 5}, {3, 7}, {4}}));
}

TEST(HostRecording, CommandsStayBehindStampsAndInTheirSegment) {
    Recording made;
    made.open_phases = 9;
    made.add(command(1, {write(0, 10)}));
    made.stamp();
    made.add(command(2, {write(10, 20)}));
    made.add(command(3, {read(10, 20), write(20, 30)}));
    made.add(command(4, {write(30, 40)}));
    made.cut();
    made.add(command(5, {write(40, 50)}));
    EXPECT_EQ(phases(made.segments.at(0)), (Phases{{1}, {2, 4}, {3}}));
    EXPECT_EQ(phases(made.segments.at(1)), (Phases{{5}}));
}

TEST(HostRecording, BeginsAPhaseForEachSegmentAndStamp) {
    Recording made;
    made.add(command(1, {write(0, 10)}));
    made.cut();
    made.add(command(2, {read(0, 10)}));
    made.stamp();
    made.add(command(3, {write(0, 10)}));
    ASSERT_EQ(made.segments.size(), 2U);
    EXPECT_EQ(phases(made.segments[0]), (Phases{{1}}));
    EXPECT_EQ(phases(made.segments[1]), (Phases{{2}, {3}}));
    EXPECT_FALSE(made.segments[1][0].stamped);
    EXPECT_TRUE(made.segments[1][1].stamped);
    EXPECT_EQ(made.stamps(), 1U);
}

TEST(HostRecording, ShufflesWithinPhases) {
    Recording made;
    for (std::uint32_t i = 1; i <= 20; ++i) made.add(command(i, {write(100 * i, 100 * i + 1)}));
    for (std::uint32_t i = 21; i <= 40; ++i) made.add(command(i, {write(100 * (i - 20), 100 * (i - 20) + 1)}));
    const Phases before = phases(made.segments.at(0));
    ASSERT_EQ(before.size(), 2U);
    Recording other = made;
    shuffle(made, 1);
    shuffle(other, 2);
    const Phases after = phases(made.segments.at(0));
    ASSERT_EQ(after.size(), 2U);
    EXPECT_NE(after, phases(other.segments.at(0)));
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NE(after[i], before[i]);
        EXPECT_TRUE(std::ranges::is_permutation(after[i], before[i]));
    }
    EXPECT_EQ(made.segments[0][0].commands[0].accesses.at(0).begin, 100U * after[0][0]) << "each with its accesses";
}

/// Reference for race(): compares all commands byte by byte.
bool races(const Phase& phase) {
    for (std::size_t i = 0; i < phase.commands.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            for (const Access& a : phase.commands[i].accesses)
                for (const Access& b : phase.commands[k].accesses)
                    for (std::uint64_t byte = a.begin; byte < a.end; ++byte)
                        if ((a.writes || b.writes) && b.begin <= byte && byte < b.end) return true;
    return false;
}

TEST(HostRaces, AreFoundWhereBytesAreShared) {
    Random random(1, "races");
    int with = 0;
    constexpr int CASES = 5000;
    for (int i = 0; i < CASES; ++i) {
        Phase phase;
        for (std::uint64_t commands = random.below(5); commands > 0; --commands) {
            phase.commands.push_back(command(1, {}));
            for (std::uint64_t accesses = random.below(4); accesses > 0; --accesses) {
                const std::uint64_t begin = random.below(30);
                phase.commands.back().accesses.push_back({begin, begin + random.below(6), random.below(3) == 0});
            }
        }
        ASSERT_EQ(!race(phase).empty(), races(phase)) << "case " << i << ": " << race(phase);
        with += races(phase) ? 1 : 0;
    }
    EXPECT_GT(with, CASES / 10);
    EXPECT_LT(with, CASES * 9 / 10);
}

}  // namespace
}  // namespace vkf::test
