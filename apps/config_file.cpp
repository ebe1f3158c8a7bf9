#include "apps/config_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/file.h"

namespace vkf {

namespace {

/// "--key=value" for each entry; tables are refused, for options have no groups.
std::vector<std::string> options_in(const std::string& path) {
    std::istringstream stream(read_text(path));
    std::vector<std::string> options;
    std::vector<CLI::ConfigItem> items;
    try {
        items = CLI::ConfigTOML().from_config(stream);
    } catch (const CLI::Error& error) {
        throw InputError(path, ": not TOML: ", error.what());
    }
    for (const CLI::ConfigItem& item : items) {
        require(item.parents.empty(), path, ": table '", item.parents.empty() ? "" : item.parents[0],
                "': options stand at the top level");
        require(item.inputs.size() == 1, path, ": '", item.name, "' wants one value");
        if (!item.inputs[0].empty()) options.push_back("--" + item.name + "=" + item.inputs[0]);
    }
    return options;
}

/// The value of an option given as "--name value" or "--name=value", and how many arguments it takes at `i`.
bool value_at(const std::vector<std::string>& args, std::size_t i, const std::string& name, std::string& value,
              std::size_t& taken) {
    if (args[i].starts_with(name + "=")) {
        value = args[i].substr(name.size() + 1);
        taken = 1;
        return true;
    }
    if (args[i] != name) return false;
    require(i + 1 < args.size(), name, " wants a value");
    value = args[i + 1];
    taken = 2;
    return true;
}

}  // namespace

std::vector<std::string> expand_config(std::vector<std::string> args) {
    std::vector<std::string> rest, from_files;
    std::string out_dir = "out";
    bool resume = false;
    std::vector<std::string> files;
    for (std::size_t i = 0; i < args.size();) {
        std::string value;
        std::size_t taken = 1;
        if (value_at(args, i, "--config", value, taken)) {
            files.push_back(value);
        } else {
            if (value_at(args, i, "--out-dir", value, taken)) out_dir = value;
            resume = resume || args[i] == "--resume";
            rest.insert(rest.end(), args.begin() + static_cast<std::ptrdiff_t>(i),
                        args.begin() + static_cast<std::ptrdiff_t>(i + taken));
        }
        i += taken;
    }
    if (resume && files.empty()) {
        settle_files(out_dir);
        const auto kept = std::filesystem::path(out_dir) / "train.toml";
        if (std::filesystem::exists(kept)) files.push_back(kept.string());
    }
    for (const std::string& file : files) {
        const std::vector<std::string> options = options_in(file);
        from_files.insert(from_files.end(), options.begin(), options.end());
    }
    const auto first_option =
        std::find_if(rest.begin(), rest.end(), [](const std::string& a) { return a.starts_with("-"); });
    rest.insert(first_option, from_files.begin(), from_files.end());
    return rest;
}

}  // namespace vkf
