#include "program/choice_file.h"

#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "vulkan/device.h"
#include "vulkan/kernel.h"

namespace vkf {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uintmax_t LARGEST = 1 << 22;  // bytes; our own have a few thousand

/// Everything that makes an earlier choice worthless when it changes.
ordered_json origin(const DeviceInfo& device) {
    return {{"device", device.name},
            {"driver", device.driver},
            {"identity", device.identity},
            {"subgroup_size", device.subgroup_size},
            {"kernels", kernels_hash("matmul")}};
}

}  // namespace

void Choices::merge(Choices others) {
    chosen.merge(others.chosen);
    refused.merge(others.refused);
}

std::filesystem::path choice_file(const DeviceInfo& device, const std::filesystem::path& folder) {
    const std::string name = text(device.identity, ' ', device.driver, ' ', device.subgroup_size);
    return folder / text("kernels-", std::hex, hash_name(name), ".json");
}

Choices read_choices(const DeviceInfo& device, const std::filesystem::path& folder) {
    const std::filesystem::path path = choice_file(device, folder);
    std::error_code error;
    Choices made;
    if (!std::filesystem::exists(path, error)) return made;
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);  // an error of what is no regular file
    require(!error && bytes <= LARGEST, path.string(), ": is no file of choices");
    const json root = parse_json(read_text(path), path.string());
    try {
        if (root.at("origin") != json(origin(device))) return made;
        for (const auto& [kind, entry] : root.at("chosen").items())
            made.chosen[kind] = {entry.at("kernel"), entry.at("gflops").get<std::map<std::string, double>>()};
        made.refused = root.at("refused").get<std::map<std::string, std::string>>();
        return made;
    } catch (const nlohmann::json::exception& wrong) {
        throw InputError(path.string(), ": ", wrong.what());
    }
}

void write_choices(const DeviceInfo& device, const std::filesystem::path& folder, Choices choices) {
    try {
        choices.merge(read_choices(device, folder));
    } catch (const InputError&) {
        // It is replaced.
    }
    ordered_json chosen = ordered_json::object();
    for (const auto& [kind, choice] : choices.chosen)
        chosen[kind] = {{"kernel", choice.kernel}, {"gflops", choice.gflops}};
    const ordered_json root{{"origin", origin(device)}, {"chosen", chosen}, {"refused", choices.refused}};
    std::filesystem::create_directories(folder);
    write_atomically(choice_file(device, folder), root.dump(1) + "\n");
}

}  // namespace vkf
