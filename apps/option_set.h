// Options of a command that files can give as well, and where each one's value came from: the command line before
// --config, the last file before the first, and any of these before the configuration of a run that is resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/config_file.h"
#include "apps/option_values.h"
#include "base/error.h"
#include "models/field.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace vkf {

/// What an option NAME=PATH was given.
struct NamedPath {
    std::string name;  // of letters, digits, '-' and '_'
    std::filesystem::path path;
};

class OptionSet {
public:
    OptionSet() = default;
    OptionSet(const OptionSet&) = delete;  // options refer to its members
    OptionSet& operator=(const OptionSet&) = delete;

    /// Whether the user gave the option "--name", on the command line or by --config; whether on the command line.
    bool given(const std::string& name) const;
    bool on_command_line(const std::string& name) const;
    /// "--name", or "FILE:LINE: name" where a file gave it.
    std::string origin_of(const std::string& name) const;

    /// What the options are, as --config reads them.
    std::string toml() const;
    /// "name NEW (was OLD)" of all options that were given and differ from the base; or "".
    std::string changes() const;

protected:
    /// Adds --config.
    void declare_config(CLI::App& app);
    /// Takes what the files of --config give.
    void read_configs();
    /// Takes from the configuration of an earlier run what was not given.
    void read_base(const std::filesystem::path& path);
    /// What the base says of an option, if there is one that does.
    const ConfigValue* base(const std::string& key) const;

    template <class T>
    CLI::Option* option(CLI::App& app, const char* name, T& value, const char* help, const CLI::Validator& wanted) {
        remember(name + 2, [&value] { return value_of(value); });
        return declare(
            app, name, help, wanted, [&value](const std::string& word) { read(word, value); }, shown(value_of(value)),
            std::is_same_v<T, std::string> ? "TEXT"
            : is_whole<T>                  ? "N"
                                           : "X");
    }
    /// The value as people write it; nothing as "".
    static std::string shown(const std::optional<ConfigValue>& value);
    /// One of some words, which --help lists.
    void choice(CLI::App& app, const char* name, std::string& value, const char* help,
                const std::vector<std::string>& known);
    void choice(CLI::App& app, const char* name, const Choice& value, const char* help);
    /// What a field of a model's configuration says; its value lies there. One that is 0 now may be told 0 too.
    void field(CLI::App& app, const Field& field);
    /// A file or directory; kept as an absolute path.
    void path(CLI::App& app, const char* name, std::string& value, const char* help);
    /// Files or directories under names, NAME=PATH, as often as it is given; kept with absolute paths.
    void named_paths(CLI::App& app, const char* name, std::vector<NamedPath>& value, const char* help);
    void flag(CLI::App& app, const char* name, bool& value, const char* help);
    /// A flag that stays open until it is given, and until then is no part of the configuration.
    void flag(CLI::App& app, const char* name, std::optional<bool>& value, const char* help);
    /// The option declared last is kept in TOML only where it means something.
    void keep_if(std::function<bool()> meant);
    /// An option that the command has already, to be kept too.
    void remember(std::string key, std::function<std::optional<ConfigValue>()> value);

private:
    enum class Source : std::uint8_t { base, config };
    struct Given {
        Source source;
        std::string where;
    };
    struct Entry {
        std::string key;
        std::function<std::optional<ConfigValue>()> value;  // or nothing, to be left out
    };

    template <class T>
    static constexpr bool is_whole = std::is_integral_v<T>;

    static void read(const std::string& word, std::string& value) { value = word; }
    static void read(const std::string& word, std::int64_t& value) { value = read_whole(word).value_or(0); }
    static void read(const std::string& word, double& value) { value = read_number(word).value_or(0); }
    static void read(const std::string& word, float& value) {
        value = static_cast<float>(read_number(word).value_or(0));
    }
    static void read(const std::string& word, std::optional<double>& value) { value = read_number(word); }

    static std::optional<ConfigValue> value_of(const std::string& value) {
        return value.empty() ? std::nullopt : std::optional<ConfigValue>(value);
    }
    static std::optional<ConfigValue> value_of(std::int64_t value) { return value; }
    static std::optional<ConfigValue> value_of(double value) { return value; }
    static std::optional<ConfigValue> value_of(float value) { return widened(value); }
    static std::optional<ConfigValue> value_of(const std::optional<double>& value) {
        return value ? std::optional<ConfigValue>(*value) : std::nullopt;
    }
    CLI::Option* declare(CLI::App& app, const char* name, const char* help, const CLI::Validator& wanted,
                         std::function<void(const std::string&)> take, const std::string& standard,
                         const std::string& type);
    void apply(const std::filesystem::path& file, Source source);
    /// Takes an entry for the option, which nothing gave that goes before it.
    void take(CLI::Option& option, const ConfigEntry& entry, Source source);

    CLI::App* app_ = nullptr;
    std::vector<std::string> configs_;
    std::vector<Entry> entries_;
    std::map<const CLI::Option*, Given> given_;  // by files
    std::map<std::string, ConfigValue> base_;
};

}  // namespace vkf
