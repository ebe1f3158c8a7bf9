#include "models/files/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "base/text/json.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

constexpr const char *FORMAT = "vkformer checkpoint 1", *BYTES = "bytes", *HASH = "xxh3_128";

Manifest::File describe(const fs::path& path) {
    const MappedFile file(path);
    const auto bytes = file.bytes();
    return {bytes.size(), content_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()})};
}

Manifest parse(std::string_view words, const fs::path& path) {
    const std::string shown = path.string();
    const nlohmann::json root = parse_json(words, shown);
    try {
        require(root.at("format") == FORMAT, shown, ": format is ", one_line(root.at("format")), ", wanted '", FORMAT,
                "'");
        Manifest made{root.at("run"), root.at("step"), root.at("config"), {}};
        for (const auto& [name, file] : root.at("files").items()) {
            const bool plain = fs::path(name).filename() == name && name != "." && name != "..";
            require(plain, shown, ": lists ", one_line(name), ", wanted names of files beside it");
            made.files[name] = {file.at(BYTES), file.at(HASH)};
        }
        return made;
    } catch (const nlohmann::json::exception&) {
        throw InputError(
            shown, ": is no manifest of a checkpoint, wanted ",
            R"({"format": …, "run": …, "step": …, "config": …, "files": {NAME: {"bytes": …, "xxh3_128": …}}})");
    }
}

/// Message about the first file that differs from the manifest; empty if none does.
std::string damage(const fs::path& directory, const Manifest& manifest) {
    for (const auto& [name, file] : manifest.files) {
        const fs::path path = directory / name;
        if (!file_exists(path)) return text(path.string(), ": is missing, which ", manifest_file, " lists");
        const Manifest::File found = describe(path);
        if (found.bytes != file.bytes)
            return text(path.string(), ": has ", found.bytes, " bytes, but ", manifest_file, " says ", file.bytes);
        if (found.hash != file.hash)
            return text(path.string(), ": is damaged, or of another checkpoint: its hash is ", found.hash, ", but ",
                        manifest_file, " says ", file.hash);
    }
    return {};
}

}  // namespace

std::vector<fs::path> Manifest::names() const {
    std::vector<fs::path> all;
    for (const auto& [name, file] : files) all.emplace_back(name);
    all.emplace_back(manifest_file);
    return all;
}

std::string content_hash(std::string_view bytes) {
    XXH128_canonical_t canonical{};
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
    constexpr const char* digits = "0123456789abcdef";
    std::string hash;
    for (const unsigned char byte : canonical.digest) hash.append({digits[byte >> 4], digits[byte & 15]});
    return hash;
}

Manifest make_manifest(const fs::path& folder, std::string run, std::int64_t step, const std::string& config) {
    Manifest made{std::move(run), step, {}, {}};
    for (const fs::path& name : published_names(folder)) made.files[name.string()] = describe(folder / name);
    if (const auto found = made.files.find(config); found != made.files.end()) made.config = found->second.hash;
    return made;
}

std::string manifest_text(const Manifest& manifest) {
    nlohmann::ordered_json files = nlohmann::ordered_json::object();
    for (const auto& [name, file] : manifest.files) files[name] = {{BYTES, file.bytes}, {HASH, file.hash}};
    const nlohmann::ordered_json root{{"format", FORMAT},
                                      {"run", manifest.run},
                                      {"step", manifest.step},
                                      {"config", manifest.config},
                                      {"files", files}};
    return root.dump(2) + "\n";
}

std::optional<Manifest> read_manifest(const fs::path& directory) {
    const fs::path path = directory / manifest_file;
    if (!file_exists(path)) return std::nullopt;
    return parse(read_small_text(path), path);
}

std::optional<Manifest> read_manifest(const os::Folder& folder) {
    const fs::path path = folder.path() / manifest_file;
    const os::File file = folder.open(manifest_file, os::Open::read_at_once);
    if (!file.valid()) return std::nullopt;
    return parse(read_text(file, path), path);
}

std::optional<Manifest> verify_checkpoint(const fs::path& directory) {
    constexpr int most = 8;  // checkpoints that may be saved while one is read
    std::optional<Manifest> manifest = read_manifest(directory);
    for (int look = 1; manifest; ++look) {
        const std::string wrong = damage(directory, *manifest);
        if (wrong.empty()) return manifest;
        std::optional<Manifest> now = read_manifest(directory);
        if (now == manifest || look == most) throw InputError(wrong);
        manifest = std::move(now);
    }
    return manifest;
}

}  // namespace vkf
