// The registry of attention variants and their options in files.

#include "models/attention/mixer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "device_fixture.h"
#include "models/files/config_json.h"
#include "scratch.h"

namespace vkf::test {
namespace {

TEST(HostMixer, NamesAndOptionsAreNobodyElses) {
    std::set<std::string_view> names, keys{"variant", "mask_diagonal"};
    for (const Mixer* mixer : mixers()) {
        EXPECT_TRUE(names.insert(mixer->name).second) << mixer->name;
        for (const Field& option : mixer->options.places()) {
            EXPECT_TRUE(keys.insert(option.key).second) << mixer->name << ", " << option.key;
            EXPECT_TRUE(option.has_option()) << mixer->name << ", " << option.key;
        }
    }
}

/// Earlier versions wrote attentionx's options beside every variant.
TEST(HostMixer, OptionsOfOthersAreReadWhereTheyAskForNothing) {
    const Scratch scratch;
    const auto read = [&](const std::string& attention) {
        const std::string sizes = R"("vocab_size":5,"n_positions":8,"n_embd":8,"n_layer":1,"n_head":2)";
        return read_config_json(scratch.file("config.json", "{" + sizes + R"(,"attention":)" + attention + "}"));
    };
    EXPECT_EQ(read(R"({"gamma":1,"gamma_on":"sum","variant":"belief"})").attention(), AttentionConfig("belief"));
    EXPECT_NE(complaint([&] { read(R"({"variant":"belief","gamma_on":"value"})"); }).find("wanted attentionx with it"),
              std::string::npos);
    EXPECT_THROW(read(R"({"variant":"belief","gamma":"1"})"), InputError);
    EXPECT_THROW(read(R"({"variant":"belief","delta":1})"), InputError);
}

/// A fresh model's options: as given, else as the paper has them for the task.
TEST(HostMixer, PapersChooseWhatNobodyGave) {
    const auto chosen = [](Task task, const Given& given) {
        AttentionConfig config("attentionx");
        config.mixer().choose(config, task, given);
        return std::pair(shown(config.options.fields().front()), config.mask_diagonal);
    };
    const auto nothing = [](std::string_view) { return false; };
    EXPECT_EQ(chosen(Task::language, nothing), std::pair(std::string("3"), false));
    EXPECT_EQ(chosen(Task::images, nothing), std::pair(std::string("1"), true));
    const auto gamma = [](std::string_view key) { return key == "gamma"; };
    EXPECT_EQ(chosen(Task::language, gamma), std::pair(std::string("1"), false));
    const auto mask = [](std::string_view key) { return key == "mask_diagonal"; };
    EXPECT_EQ(chosen(Task::images, mask), std::pair(std::string("1"), false));
}

}  // namespace
}  // namespace vkf::test
