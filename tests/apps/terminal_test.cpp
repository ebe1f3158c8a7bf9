#include "apps/cli/terminal.h"

#include <gtest/gtest.h>

namespace vkf {
namespace {

TEST(HostTerminal, ALineIsCutBetweenCharacters) {
    EXPECT_EQ(cut_to_columns("loss 2.31", 20), "loss 2.31");
    EXPECT_EQ(cut_to_columns("loss 2.31", 6), "loss 2");
    EXPECT_EQ(cut_to_columns("a→ü𝄞b", 4), "a→ü𝄞");
    EXPECT_EQ(cut_to_columns("a→ü", 2), "a→");
    EXPECT_EQ(cut_to_columns("\xff\xe2\x86", 2), "\xff\xe2");
    EXPECT_EQ(cut_to_columns("loss", 0), "");
}

}  // namespace
}  // namespace vkf
