// Main function of the tests. Exit status: 0 all passed; 1 a test failed, or no test has the wanted name; 77 all tests
// with that name were skipped, which ctest reports (SKIP_RETURN_CODE).

#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
    const int status = RUN_ALL_TESTS();
    const ::testing::UnitTest& run = *::testing::UnitTest::GetInstance();
    if (run.test_to_run_count() == 0) {
        std::fprintf(stderr, "no test matches the filter\n");
        return 1;
    }
    return status == 0 && run.skipped_test_count() == run.test_to_run_count() ? 77 : status;
}
