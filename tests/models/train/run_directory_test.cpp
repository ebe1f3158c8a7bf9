// Position of a run, restored from its directory.

#include "models/train/run_directory.h"

#include <gtest/gtest.h>

#include "device_fixture.h"
#include "scratch.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

TEST(DeviceRunDirectory, RestoresProgressToTheLastBit) {
    const Scratch scratch;
    const Gpt2Config model = tiny_gpt2("standard");
    const auto loss = [&](const Scope& scope) { return language_loss(scope, model, 1, 4); };
    Trainer trainer(shared_device(), loss, loss, {});
    {
        RunDirectory run = RunDirectory::create(scratch.path(), false, {});
        run.describe({}, "");
        run.save(trainer, {.step = 7, .evaluated = 5, .best = 1.0 / 3, .without_improvement = 2, .outliers = 3});
    }
    RunDirectory run = RunDirectory::reopen(scratch.path());
    const RunProgress found = run.restore(trainer);
    EXPECT_EQ(found.step, 7);
    EXPECT_EQ(found.evaluated, 5);
    EXPECT_EQ(found.best, 1.0 / 3);
    EXPECT_EQ(found.without_improvement, 2);
    EXPECT_EQ(found.outliers, 3);
}

}  // namespace
}  // namespace vkf::test
