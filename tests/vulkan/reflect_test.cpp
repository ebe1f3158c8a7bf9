#include "vulkan/kernel/reflect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "vulkan/kernel/spirv.h"

namespace vkf::test {
namespace {

std::span<const std::uint32_t> words_of(std::string_view name) {
    for (const SpirvModule& module : embedded_spirv())
        if (module.name == name) return module.words;
    throw Error("no kernel ", name);
}

TEST(HostReflect, SaysWhatAKernelReadsAndWrites) {
    const Reflection found = reflect(words_of("kv_cache_append"));
    const auto member = [&](std::string_view name) {
        return *std::find_if(found.args.begin(), found.args.end(), [&](const ArgMember& m) { return m.name == name; });
    };
    EXPECT_TRUE(member("keys").reads && member("keys").writes);
    EXPECT_TRUE(member("k").reads && !member("k").writes);
    EXPECT_EQ(member("k_width").kind, ArgKind::u32);
    EXPECT_EQ(member("k").kind, ArgKind::address);
    EXPECT_EQ(member("k").offset, 16u);
}

TEST(HostReflect, SaysWhatATablesRowsHold) {
    const Reflection found = reflect(words_of("adamw"));
    const ArgMember& rows = found.args.at(0);
    EXPECT_EQ(rows.name, "rows");
    EXPECT_EQ(rows.kind, ArgKind::table);
    EXPECT_EQ(rows.row_bytes, 40u);  // 36, and the next row's addresses are aligned
    ASSERT_EQ(rows.columns.size(), 5u);
    EXPECT_EQ(rows.columns[1].name, "g");
    EXPECT_TRUE(rows.columns[1].reads && !rows.columns[1].writes);
    EXPECT_TRUE(rows.columns[2].reads && rows.columns[2].writes);
    EXPECT_EQ(rows.columns[2].offset, 16u);
    EXPECT_EQ(rows.columns[4].kind, ArgKind::f32);
}

TEST(HostReflect, KnowsTheDigitsThatTheRuntimeFillsIn) {
    const Reflection found = reflect(words_of("matmul_decode_unrolled"));
    const ArgMember& digits = found.args.back();
    EXPECT_EQ(digits.name, "digits");
    EXPECT_EQ(digits.kind, ArgKind::digits);
    EXPECT_EQ(found.push_bytes, digits.offset + 16);
}

TEST(HostReflect, EveryKernelFitsThePushConstantsAndNamesItsGroup) {
    for (const SpirvModule& module : embedded_spirv()) {
        const Reflection found = reflect(module.words);
        EXPECT_LE(found.push_bytes, 128u) << module.name;
        EXPECT_FALSE(found.args.empty()) << module.name;
        EXPECT_TRUE(std::none_of(found.constants.begin(), found.constants.end(),
                                 [](const SpecConstant& c) { return c.id == 1 && c.name != "SUBGROUP"; }))
            << module.name << " names the subgroup's size something else";
        EXPECT_TRUE(std::any_of(found.constants.begin(), found.constants.end(), [](const SpecConstant& c) {
            return c.name == "GROUP" && c.id == 0;
        })) << module.name;
    }
}

/// A number is given by hand in each file, and files include each other.
TEST(HostReflect, NoTwoConstantsOfAKernelShareANumber) {
    for (const SpirvModule& module : embedded_spirv()) {
        std::map<std::uint32_t, std::string> names;
        for (const SpecConstant& constant : reflect(module.words).constants) {
            const auto [other, is_new] = names.emplace(constant.id, constant.name);
            EXPECT_TRUE(is_new) << module.name << ": " << constant.name << " and " << other->second
                                << " are both constant_id " << constant.id;
        }
    }
}

TEST(HostReflect, RefusesWhatIsNoModule) {
    const std::vector<std::uint32_t> junk(16, 0x12345678);
    EXPECT_THROW(reflect(junk), Error);
    std::vector<std::uint32_t> cut(words_of("elementwise").begin(), words_of("elementwise").end());
    cut[5] = 0xffff0000u | (cut[5] & 0xffff);  // an instruction longer than the module
    EXPECT_THROW(reflect(cut), Error);
}

}  // namespace
}  // namespace vkf::test
