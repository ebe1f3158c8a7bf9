// Cache of tuned kernels: its content, the devices and builds that may use it, and damaged files.
#include "program/tuning_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/files/file.h"
#include "program/twice.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

TEST(DeviceAutotuner, RemembersInAFile) {
    const Folder folder;
    const TuningCachePlace made = place(folder.path / "made" / "for us");
    const std::vector<std::string> list{"coopmat wrong", "tile 64", "tile 128", "subgroup"};
    const Asked first(list, {.cache = made});
    EXPECT_EQ(first.y, doubled);
    EXPECT_NE(first.told, "");
    const Asked second(list, {.cache = made});
    EXPECT_EQ(second.y, doubled);
    EXPECT_EQ(second.told, "") << "nothing is tried again";
    const TuningCache kept = read_tuning_cache(shared_device().info(), made);
    ASSERT_EQ(kept.chosen.size(), 1u);
    EXPECT_EQ(kept.chosen.begin()->first, "twice: coopmat wrong, tile 64, tile 128, subgroup");
    EXPECT_EQ(kept.chosen.begin()->second.gflops.size(), 2u) << "what is made for CPUs is not timed";
    using Reasons = std::map<std::string, std::string>;
    ASSERT_EQ(kept.refused.size(), 1u);
    EXPECT_EQ(kept.refused.at("twice"), (Reasons{{"coopmat wrong", "element 0 is 0, wanted 6 to within 0"}}));
    const Asked other({"coopmat wrong", "subgroup"}, {.cache = made});
    EXPECT_EQ(other.told.find("coopmat"), std::string::npos) << "refused before: " << other.told;
}

TEST(DeviceAutotuner, WhatIsRefusedForOneFamilyIsTriedForAnother) {
    const Folder folder;
    const AutotunerOptions options{.cache = place(folder.path)};
    const std::string left_out = "kernel coopmat wrong is left out";
    const std::vector<std::string> list{"coopmat wrong", "tile"}, fewer{"coopmat wrong", "subgroup"};
    EXPECT_NE(Asked(list, options, "twice forward").told.find(left_out), std::string::npos);
    EXPECT_EQ(Asked(fewer, options, "twice forward").told.find(left_out), std::string::npos);
    EXPECT_NE(Asked(list, options, "twice backward").told.find(left_out), std::string::npos);
    const TuningCache kept = read_tuning_cache(shared_device().info(), *options.cache);
    EXPECT_EQ(kept.refused.size(), 2u);

    // A rumour about another family's kernel of the same name does not affect this family.
    const Folder other;
    TuningCache rumour;
    rumour.refused["twice backward"]["tile"] = "a rumour";
    write_tuning_cache(shared_device().info(), place(other.path), rumour);
    Asked({"tile", "subgroup"}, {.cache = place(other.path)}, "twice forward");
    const TuningCache found = read_tuning_cache(shared_device().info(), place(other.path));
    ASSERT_EQ(found.chosen.size(), 1u);
    EXPECT_TRUE(found.chosen.begin()->second.gflops.contains("tile")) << "it was timed";
}

TEST(DeviceAutotuner, MeasuresAnewWhatCannotBeRead) {
    const DeviceInfo& info = shared_device().info();
    for (const char* content : {"", "{", "[]", "null", "{\"origin\": 1}", "\xff\xfe", "{\"chosen\": {\"twice\": 3}}"}) {
        const Folder folder;
        std::ofstream(tuning_cache_file(info, place(folder.path))) << content;
        const Asked asked({"tile", "subgroup"}, {.cache = place(folder.path)});
        EXPECT_EQ(asked.y, doubled) << content;
        EXPECT_EQ(read_tuning_cache(info, place(folder.path)).chosen.size(), 1u) << "replaced: " << content;
    }
    {
        const Folder folder;
        fs::create_directory(tuning_cache_file(info, place(folder.path)));
        const Asked asked({"tile", "subgroup"}, {.cache = place(folder.path)});
        EXPECT_EQ(asked.y, doubled);
        EXPECT_NE(asked.told.find("kernels are chosen anew"), std::string::npos);
    }
    {
        const Folder folder;
        std::ofstream(folder.path / "file") << "in the way";
        const Asked asked({"tile", "subgroup"}, {.cache = place(folder.path / "file" / "below")});
        EXPECT_EQ(asked.y, doubled) << "what cannot be written is forgotten";
    }
    {
        const Folder folder;  // no candidate is left
        const std::map<std::string, std::string> all{{"tile", "a rumour"}, {"subgroup", "another"}};
        write_tuning_cache(info, place(folder.path), {.chosen = {}, .refused = {{"twice", all}}});
        EXPECT_EQ(Asked({"tile", "subgroup"}, {.cache = place(folder.path)}).y, doubled);
    }
    const Folder folder;  // the cached choice is not a candidate
    write_tuning_cache(info, place(folder.path),
                       {.chosen = {{"twice: tile, lanes", {"coopmat wrong", {}}}}, .refused = {}});
    EXPECT_EQ(Asked({"tile", "subgroup"}, {.cache = place(folder.path)}).y, doubled);
}

TEST(DeviceTuningCache, KeepsTheVerdictOnMatrices) {
    const Folder folder;
    const DeviceInfo& info = shared_device().info();
    const MatrixFaults faults{{"bf16", "it crashed"}};
    write_tuning_cache(info, place(folder.path), {.chosen = {{"one", {"tile", {}}}}});
    EXPECT_FALSE(read_tuning_cache(info, place(folder.path)).matrices) << "not tried yet";
    write_tuning_cache(info, place(folder.path), {.matrices = faults});
    write_tuning_cache(info, place(folder.path), {.chosen = {{"two", {"tile", {}}}}});  // by a process without verdict
    const TuningCache kept = read_tuning_cache(info, place(folder.path));
    EXPECT_EQ(kept.matrices, faults);
    EXPECT_EQ(kept.chosen.size(), 2u);
    EXPECT_EQ(forget_faults(info, place(folder.path)), 1u);
    EXPECT_FALSE(read_tuning_cache(info, place(folder.path)).matrices);
    write_tuning_cache(info, place(folder.path), {.matrices = MatrixFaults()});
    EXPECT_EQ(forget_faults(info, place(folder.path)), 0u);
    EXPECT_EQ(read_tuning_cache(info, place(folder.path)).matrices, MatrixFaults()) << "they are right: not tried anew";
}

TEST(DeviceTuningCache, KeepsTheLastVerdictOfACheck) {
    const Folder folder;
    const DeviceInfo& info = shared_device().info();
    EXPECT_FALSE(read_tuning_cache(info, place(folder.path)).checked);
    add_faults(info, place(folder.path), {.checked = CheckVerdict{"monday", 40, 1}});
    add_faults(info, place(folder.path), {.wrong = {{"softmax: rows", "it differs"}}});  // of a check of some tables
    add_faults(info, place(folder.path), {.checked = CheckVerdict{"tuesday", 50, 2}});
    write_tuning_cache(info, place(folder.path), {.chosen = {{"one", {"tile", {}}}}});
    const TuningCache kept = read_tuning_cache(info, place(folder.path));
    ASSERT_TRUE(kept.checked);
    EXPECT_EQ(kept.checked->date, "tuesday");
    EXPECT_EQ(kept.checked->checks, 50);
    EXPECT_EQ(kept.checked->failed, 2);
    EXPECT_EQ(kept.wrong.size(), 1u);
    EXPECT_EQ(forget_faults(info, place(folder.path)), 1u);
    EXPECT_FALSE(read_tuning_cache(info, place(folder.path)).checked);
}

TEST(DeviceTuningCache, BelongsToOneDeviceDriverAndBuild) {
    const Folder folder;
    const DeviceInfo& info = shared_device().info();
    const auto keep = [&](const char* kind, const char* kernel) {
        write_tuning_cache(info, place(folder.path), {.chosen = {{kind, {kernel, {{kernel, 1.5}}}}}, .refused = {}});
    };
    keep("one", "tile");
    keep("two", "subgroup");  // as another process would
    keep("one", "subgroup");  // the last writer wins
    const TuningCache both = read_tuning_cache(info, place(folder.path));
    ASSERT_EQ(both.chosen.size(), 2u);
    EXPECT_EQ(both.chosen.at("one").kernel, "subgroup");
    EXPECT_EQ(both.chosen.at("two").gflops.at("subgroup"), 1.5);

    DeviceInfo newer = info;
    newer.driver += " and a half";
    EXPECT_TRUE(read_tuning_cache(newer, place(folder.path)).chosen.empty());
    DeviceInfo narrower = info;
    narrower.subgroup_size *= 2;
    EXPECT_TRUE(read_tuning_cache(narrower, place(folder.path)).chosen.empty());
    // The same file, but its content names another driver or an older build.
    const fs::path path = tuning_cache_file(info, place(folder.path));
    const std::string words = read_text(path), mark = "\"kernels\": ";
    const std::size_t digit = words.find(mark) + mark.size();
    std::string older = words;
    older[digit] = words[digit] == '1' ? '2' : '1';
    write_atomically(path, older);
    EXPECT_TRUE(read_tuning_cache(info, place(folder.path)).chosen.empty());
    write_atomically(path, words);
    TuningCachePlace rebuilt = place(folder.path);
    EXPECT_EQ(read_tuning_cache(info, rebuilt).chosen.size(), 2u);
    for (const char* tuned : {"matmul_tile", "attention_tile_backward_kv"}) {  // as if its shader had changed
        std::ranges::replace(rebuilt.kernels = tuned_kernels(), std::string(tuned), std::string("copy"));
        EXPECT_TRUE(read_tuning_cache(info, rebuilt).chosen.empty()) << tuned;
    }
    DeviceInfo larger = info;
    ++larger.compute_units.count;
    EXPECT_TRUE(read_tuning_cache(larger, place(folder.path)).chosen.empty());
    write_atomically(path, words.substr(0, words.size() / 2));
    EXPECT_THROW(read_tuning_cache(info, place(folder.path)), InputError);
}

}  // namespace
}  // namespace vkf::test
