// Number of segments of a run that are submitted at a time.
#include "program/pace.h"

#include <gtest/gtest.h>

namespace vkf::test {
namespace {

using std::chrono::milliseconds;

TEST(HostPace, JoinsAsManySegmentsAsFitByTheQuickestRun) {
    Pace pace(100);
    EXPECT_EQ(pace.joined(), 1u) << "nothing is known";
    pace.ran(50, milliseconds(5000));
    EXPECT_EQ(pace.joined(), 1u);
    pace.ran(50, milliseconds(1000));
    EXPECT_EQ(pace.joined(), 5u);
    pace.ran(50, milliseconds(4000));  // the run waited for another one, or its end was noticed late
    EXPECT_EQ(pace.joined(), 5u);
    pace.ran(50, milliseconds(1));
    EXPECT_EQ(pace.joined(), 50u);
    pace.ran(1, milliseconds(0));
    EXPECT_EQ(pace.joined(), 50u);
}

}  // namespace
}  // namespace vkf::test
