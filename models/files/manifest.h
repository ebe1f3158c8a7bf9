// manifest.json of a checkpoint: the files that belong together, and the size and hash of each. It binds weights,
// optimizer, progress and configuration of one step to each other.
//
//     {"format": "vkformer checkpoint 1", "run": "1c0f…", "step": 250, "config": "9b3e…",
//      "files": {"model.safetensors": {"bytes": 43008, "xxh3_128": "5d71…"}, …}}
//
// Hashes are 128-bit XXH3 in hexadecimal digits. They find damage and mixtures, but not deception: an attacker can
// write a manifest as well.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/os_folder.h"

namespace vkf {

inline constexpr const char* manifest_file = "manifest.json";

struct Manifest {
    struct File {
        std::uint64_t bytes = 0;
        std::string hash;

        bool operator==(const File&) const = default;
    };

    std::string run;        // identifies the run that wrote it: the hash of the run's first train.toml
    std::int64_t step = 0;  // updates done
    std::string config;     // hash of the file that describes the model
    std::map<std::string, File> files;

    bool operator==(const Manifest&) const = default;

    /// Names of the files and, last, of the manifest.
    std::vector<std::filesystem::path> names() const;
};

/// Hash of these bytes.
std::string content_hash(std::string_view bytes);

/// Describes all files in a folder; `config` is the name of the file that describes the model.
Manifest make_manifest(const std::filesystem::path& folder, std::string run, std::int64_t step,
                       const std::string& config);

std::string manifest_text(const Manifest& manifest);

/// Reads the manifest of a directory, or of an open folder, in which no link is followed; nothing if there is none.
/// Throws InputError naming the file if it cannot be read or is no manifest.
std::optional<Manifest> read_manifest(const std::filesystem::path& directory);
std::optional<Manifest> read_manifest(const os::Folder& folder);

/// Reads every file of a checkpoint and compares it with the manifest. If a run saves into the directory meanwhile,
/// either the old or the new checkpoint is checked. Returns the manifest, or nothing if there is none. Throws
/// InputError naming the first file that is missing, or has another size or content.
std::optional<Manifest> verify_checkpoint(const std::filesystem::path& directory);

}  // namespace vkf
