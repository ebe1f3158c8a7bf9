#include "vulkan/hazards.h"

#include <gtest/gtest.h>

#include <array>

namespace vkf::test {
namespace {

constexpr Access read(std::uint64_t begin, std::uint64_t end) {
    return {begin, end, false};
}
constexpr Access write(std::uint64_t begin, std::uint64_t end) {
    return {begin, end, true};
}

TEST(HostHazards, OnlyOverlapsWithAWriteConflict) {
    const std::array first{read(0, 100), write(100, 200)};
    EXPECT_FALSE(conflict({}, first));
    EXPECT_FALSE(conflict(first, std::array{read(0, 100)})) << "two reads";
    EXPECT_TRUE(conflict(first, std::array{read(150, 160)})) << "read after write";
    EXPECT_TRUE(conflict(first, std::array{write(50, 60)})) << "write after read";
    EXPECT_TRUE(conflict(first, std::array{write(199, 300)})) << "write after write";
    EXPECT_FALSE(conflict(first, std::array{write(200, 300)})) << "neighbours";
}

}  // namespace
}  // namespace vkf::test
