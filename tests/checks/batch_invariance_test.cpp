// Rows that are computed alone and among others have the same data.
#include "checks/batch_invariance.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace vkf::test {
namespace {

using checks::RowCase;

TEST(HostCheckRows, FewRowsAreTheFirstOfMany) {
    for (const RowCase& rows : checks::row_cases()) {
        SCOPED_TRACE(rows.name);
        const checks::OpCase few = rows.first(5), many = rows.first(129);
        EXPECT_EQ(few.operands.front().type.shape[0], 5);
        EXPECT_EQ(many.operands.front().type.shape[0], 129);
        for (std::size_t i = 0; i < few.operands.size(); ++i) {
            const std::vector<double>&a = few.operands[i].values, &b = many.operands[i].values;
            ASSERT_LE(a.size(), b.size());
            EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin())) << "operand " << i;
        }
    }
}

}  // namespace
}  // namespace vkf::test
