// Options of a command that files can also give, and the origin of each value. The command line overrides --config, a
// later file overrides an earlier one, and all of these override the configuration of a resumed run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/config_file.h"
#include "apps/cli/option_values.h"
#include "base/error.h"
#include "models/config/field.h"

namespace vkf {

/// Value of an option NAME=PATH.
struct NamedPath {
    std::string name;  // letters, digits, '-' and '_'
    std::filesystem::path path;
};

class OptionSet {
public:
    OptionSet() = default;
    OptionSet(const OptionSet&) = delete;  // options refer to its members
    OptionSet& operator=(const OptionSet&) = delete;

    /// given(): true if the user gave the option "--name" on the command line or by --config; on_command_line(): true
    /// if on the command line.
    bool given(const std::string& name) const;
    bool on_command_line(const std::string& name) const;
    /// "--name", or "FILE:LINE: name" if a file gave the option.
    std::string origin_of(const std::string& name) const;

    /// Values of the options in TOML, as --config reads them.
    std::string toml() const;
    /// "name NEW (was OLD)" for all options that were given and differ from the base; or "".
    std::string changes() const;

protected:
    /// Adds --config.
    void declare_config(cli::Command& app);
    /// Takes options from the files of --config.
    void read_configs();
    /// Takes options that were not given from the configuration of an earlier run.
    void read_base(const std::filesystem::path& path);
    /// Value of an option in the base; null if the base has none.
    const ConfigValue* base(const std::string& key) const;

    template <class T>
    cli::Option option(cli::Command& app, const char* name, T& value, const char* help, const cli::Check& wanted) {
        remember(name + 2, [&value] { return value_of(value); });
        return declare(
            app, name, help, wanted, [&value](const std::string& word) { read(word, value); }, shown(value_of(value)),
            std::is_same_v<T, std::string> ? "TEXT"
            : is_whole<T>                  ? "N"
                                           : "X");
    }
    /// The value as people write it; "" for no value.
    static std::string shown(const std::optional<ConfigValue>& value);
    /// Adds an option that takes one of some words, which --help lists.
    void choice(cli::Command& app, const char* name, std::string& value, const char* help,
                const std::vector<std::string>& known);
    void choice(cli::Command& app, const char* name, const Choice& value, const char* help);
    /// Adds an option for a field of a model's configuration, which stores the value. If the field is 0 now, the option
    /// also takes 0.
    void field(cli::Command& app, const Field& field);
    /// Adds an option that takes a file or directory; kept as an absolute path.
    void path(cli::Command& app, const char* name, std::string& value, const char* help);
    /// Adds an option NAME=PATH that names files or directories and may be given several times; kept with absolute
    /// paths.
    void named_paths(cli::Command& app, const char* name, std::vector<NamedPath>& value, const char* help);
    void flag(cli::Command& app, const char* name, bool& value, const char* help);
    /// Adds a flag that has no value, and is not part of the configuration, until it is given.
    void flag(cli::Command& app, const char* name, std::optional<bool>& value, const char* help);
    // Rules of the option declared last.

    /// Keeps the option in TOML only if `meant` returns true.
    void keep_if(std::function<bool()> meant);
    /// Refuses the option on the command line unless `effective` returns true: "--name has no effect WITHOUT". An
    /// option may have several conditions, of which the first that fails is reported. With a name, the condition is
    /// that of the option "--name", which must have been declared.
    void effective_if(std::function<bool()> effective, std::function<std::string()> without);
    void effective_if(std::function<bool()> effective, const char* without);
    void effective_if(std::string_view name, std::function<bool()> effective, const char* without);
    /// Refuses to resume a run with another value, if `state` differs between both; by default any other value. A run
    /// of an earlier version, which did not have the option, has the value `absent`.
    void fixed_by_run(std::string absent, std::function<std::string(const std::string& value)> state = {});
    /// State for fixed_by_run of an option that is off at 0.
    static std::string on_or_off(const std::string& value);

    /// Throws InputError for an option that was given on the command line and has no effect.
    void require_effects() const;
    /// Throws InputError for an option that differs from what `run`, the TOML file of a resumed run, fixes.
    void require_fixed(const std::string& run, const std::string& out_dir) const;
    /// Throws InputError if an option that is not effective was given on the command line.
    void require_effect(const std::string& name, bool effective, const std::string& without) const;

    /// Keeps in TOML an option that the command already has.
    void remember(std::string key, std::function<std::optional<ConfigValue>()> value);

private:
    enum class Source : std::uint8_t { base, config };
    struct Given {
        Source source;
        std::string where;
    };
    struct Condition {
        std::function<bool()> effective;
        std::function<std::string()> without;
    };
    struct Entry {
        std::string key;
        std::function<std::optional<ConfigValue>()> value;  // nothing: left out
        std::vector<Condition> conditions = {};
        std::function<std::string(const std::string&)> state = {};
        std::string absent = {};
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
    cli::Option declare(cli::Command& app, const char* name, const char* help, const cli::Check& wanted,
                        std::function<void(const std::string&)> take, const std::string& standard,
                        const std::string& type);
    void apply(const std::filesystem::path& file, Source source);
    /// Takes an entry for an option that no source of higher priority gave.
    void take(cli::Option option, const ConfigEntry& entry, Source source);

    /// Entry of given_ for the option "--name", or its end.
    std::map<std::string, Given>::const_iterator given_by_file(const std::string& name) const;

    cli::Command* app_ = nullptr;
    std::vector<std::string> configs_;
    std::vector<Entry> entries_;
    std::map<std::string, Given> given_;  // options given by files, by Option::name()
    std::map<std::string, ConfigValue> base_;
};

}  // namespace vkf
