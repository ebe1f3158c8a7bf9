// manifest.json of a checkpoint: which files belong together, and what each holds. It binds weights, optimizer,
// progress and configuration of one step to each other.
//
//     {"format": "vkformer checkpoint 1", "run": "1c0f…", "step": 250, "config": "9b3e…",
//      "files": {"model.safetensors": {"bytes": 43008, "xxh3_128": "5d71…"}, …}}
//
// Hashes are XXH3's of 128 bits, in hexadecimal digits. They find damage and mixtures; against somebody who wants to
// deceive, who can write a manifest as well, they do nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/os_folder.h"

namespace vkf {

inline constexpr const char* manifest_file = "manifest.json";

struct Manifest {
    struct File {
        std::uint64_t bytes = 0;
        std::string hash;

        bool operator==(const File&) const = default;
    };

    std::string run;        // names the run that wrote it: the hash of the run's first train.toml
    std::int64_t step = 0;  // updates done
    std::string config;     // hash of the file that says what the model is
    std::map<std::string, File> files;

    bool operator==(const Manifest&) const = default;

    /// Names of the files, and of the manifest, which is the last.
    std::vector<std::filesystem::path> names() const;
};

/// The hash of these bytes.
std::string content_hash(std::string_view bytes);

/// Describes all files that a folder holds; `config` is the name of the one that says what the model is.
Manifest make_manifest(const std::filesystem::path& folder, std::string run, std::int64_t step,
                       const std::string& config);

std::string manifest_text(const Manifest& manifest);

/// The directory's manifest, or that of an open folder, where no link is followed; nothing if there is none. Throws
/// InputError naming the file if it cannot be read or is none.
std::optional<Manifest> read_manifest(const std::filesystem::path& directory);
std::optional<Manifest> read_manifest(const os::Folder& folder);

/// Reads every file of a checkpoint and compares it with the manifest; of a directory into which a run is saving at
/// this moment, one or the other checkpoint. Returns the manifest, or nothing where there is none. Throws InputError
/// naming the first file that is missing, or of another size or content.
std::optional<Manifest> verify_checkpoint(const std::filesystem::path& directory);

}  // namespace vkf
