// A field is declared once and is an option, a line of train.toml, a key of config.json and a line of --help.

#include <gtest/gtest.h>

#include <string>

#include "apps/program.h"
#include "field_values.h"
#include "models/families/family.h"

namespace vkf::test {
namespace {

/// Converts a JSON value to a word of a command line.
std::string words_of(const nlohmann::json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_null() ? "none" : value.dump();
}

/// Value of `key = …` in a TOML file, without quotes.
std::string toml_value(const std::string& toml, const std::string& key) {
    const std::string start = "\n" + key + " = ";
    const std::size_t at = ("\n" + toml).find(start);
    if (at == std::string::npos) return "";
    std::string value = toml.substr(at + start.size() - 1);
    value = value.substr(0, value.find('\n'));
    std::erase(value, '"');
    return value;
}

TEST(ProgramFamily, EveryOptionReachesConfigurationTomlAndHelp) {
    for (const Family* family : families()) {
        const std::string command(family->command);
        const std::string help = run_vkformer({"train", command, "--help"}).output;
        ModelConfig fresh = family->fresh();
        for (std::size_t i = 0; i < fresh.fields().size(); ++i, fresh = family->fresh()) {
            const Field field = fresh.fields()[i];
            if (!field.has_option()) continue;
            const std::string option = field.option_name(), value = set_other_value(field);
            EXPECT_NE(help.find("  " + option), std::string::npos) << option;
            EXPECT_NE(help.find(field.help), std::string::npos) << field.help;
            const nlohmann::json found = document_of({"inspect", command, option + "=" + value});
            EXPECT_EQ(toml_value(found.at("train_toml"), option.substr(2)), value);
            const nlohmann::json& config = found.at("config");
            if (field.saved && config.contains(field.key))
                EXPECT_EQ(words_of(config.at(field.key)), value) << command << " " << option;
            else
                EXPECT_TRUE(!field.saved || value == "none") << command << " " << option;
        }
    }
}

}  // namespace
}  // namespace vkf::test
