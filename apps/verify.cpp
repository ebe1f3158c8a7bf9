// vkformer verify: checks checkpoints against their manifests.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "base/files/published.h"
#include "models/files/manifest.h"
#include "models/files/numbered_checkpoints.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

/// Checkpoints with a manifest: the directory's own and, for a run, the best model and the numbered checkpoints in it.
std::vector<fs::path> checkpoints_in(const fs::path& directory) {
    std::vector<fs::path> folders{directory, directory / "best"};
    for (const fs::path& numbered : numbered_checkpoints(directory)) folders.push_back(numbered);
    std::erase_if(folders, [](const fs::path& folder) { return !file_exists(folder / manifest_file); });
    return folders;
}

void verify(const Common& common, const fs::path& directory) {
    std::error_code ignored;
    require(fs::is_directory(directory, ignored), directory.string(),
            fs::exists(directory, ignored) ? " is not a directory" : " does not exist", ", wanted a checkpoint");
    const std::vector<fs::path> folders = checkpoints_in(directory);
    require(!folders.empty(), directory.string(), ": has no ", manifest_file,
            ", wanted a checkpoint that this version of vkformer wrote");
    std::vector<std::vector<std::string>> rows{{"checkpoint", "step", "files", "size"}};
    nlohmann::ordered_json document = nlohmann::ordered_json::array();
    for (const fs::path& folder : folders) {
        const Manifest manifest = *verify_checkpoint(folder);
        std::uint64_t bytes = 0;
        for (const auto& [name, file] : manifest.files) bytes += file.bytes;
        rows.push_back({folder.string(), std::to_string(manifest.step), std::to_string(manifest.files.size()),
                        bytes_text(static_cast<double>(bytes))});
        document.push_back({{"checkpoint", folder.string()},
                            {"step", manifest.step},
                            {"run", manifest.run},
                            {"files", manifest.files.size()},
                            {"bytes", bytes}});
    }
    if (common.json) return print_json(document);
    print(table(rows));
}

}  // namespace

void add_verify(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("verify", "A checkpoint's files against its manifest");
    auto directory = std::make_shared<std::string>();
    command.add_option("directory", *directory, "Directory of a run or of a checkpoint").required().type_name("DIR");
    add_common(command, common);
    command.footer(
        "Example:\n"
        "  vkformer verify out\n"
        "\n"
        "Reads every file that manifest.json lists, also those of best/ and checkpoint-STEP/, and compares size and\n"
        "hash. The first one that is damaged, missing or of another checkpoint is named, with status 2.\n");
    command.callback([directory, &common] { verify(common, *directory); });
}

}  // namespace vkf
