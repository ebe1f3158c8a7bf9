#include "program/tuning_cache.h"

#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/small_file.h"
#include "base/random.h"
#include "base/text/json.h"
#include "vulkan/device/device.h"
#include "vulkan/kernel/kernel.h"

namespace vkf {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t LARGEST_CACHE = 1 << 22;  // bytes; our own files have a few thousand

/// Everything that makes an earlier choice worthless when it changes.
ordered_json origin(const DeviceInfo& device, const TuningCachePlace& place) {
    return {{"device", device.name},
            {"driver", device.driver},
            {"identity", device.identity},
            {"subgroup_size", device.subgroup_size},
            {"compute_units", device.compute_units.count},
            {"kernels", kernels_hash(place.kernels)}};
}

void replace(const DeviceInfo& device, const TuningCachePlace& place, const TuningCache& cache) {
    ordered_json chosen = ordered_json::object();
    for (const auto& [kind, result] : cache.chosen)
        chosen[kind] = {{"kernel", result.kernel}, {"gflops", result.gflops}};
    ordered_json root{
        {"origin", origin(device, place)}, {"chosen", chosen}, {"refused", cache.refused}, {"wrong", cache.wrong}};
    if (cache.matrices) root["matrices"] = *cache.matrices;
    if (cache.checked)
        root["checked"] = {
            {"date", cache.checked->date}, {"checks", cache.checked->checks}, {"failed", cache.checked->failed}};
    std::filesystem::create_directories(place.folder);
    write_atomically(tuning_cache_file(device, place), root.dump(1) + "\n");
}

}  // namespace

void TuningCache::merge(TuningCache others) {
    chosen.merge(others.chosen);
    for (auto& [family, candidates] : others.refused) refused[family].merge(candidates);
    wrong.merge(others.wrong);
    if (!matrices) matrices = std::move(others.matrices);
    if (!checked) checked = std::move(others.checked);
}

std::filesystem::path tuning_cache_file(const DeviceInfo& device, const TuningCachePlace& place) {
    const std::string name = text(device.identity, ' ', device.driver, ' ', device.subgroup_size);
    return place.folder / text("kernels-", std::hex, hash_name(name), ".json");
}

TuningCache read_tuning_cache(const DeviceInfo& device, const TuningCachePlace& place) {
    const std::filesystem::path path = tuning_cache_file(device, place);
    std::error_code error;
    TuningCache made;
    if (!std::filesystem::exists(path, error)) return made;
    const json root = parse_json(read_small_text(path, LARGEST_CACHE, Links::refused), path.string());
    try {
        if (root.at("origin") != json(origin(device, place))) return made;
        for (const auto& [kind, entry] : root.at("chosen").items())
            made.chosen[kind] = {entry.at("kernel"), entry.at("gflops").get<std::map<std::string, double>>()};
        made.refused = root.at("refused").get<decltype(made.refused)>();
        made.wrong = root.value("wrong", decltype(made.wrong)());
        if (const auto matrices = root.find("matrices"); matrices != root.end())
            made.matrices = matrices->get<std::map<std::string, std::string>>();
        if (const auto checked = root.find("checked"); checked != root.end())
            made.checked = {checked->at("date"), checked->at("checks"), checked->at("failed")};
        return made;
    } catch (const nlohmann::json::exception&) {
        throw InputError(path.string(), ": is no file of tuned kernels");
    }
}

void write_tuning_cache(const DeviceInfo& device, const TuningCachePlace& place, TuningCache cache) {
    try {
        cache.merge(read_tuning_cache(device, place));
    } catch (const InputError&) {
        // An unreadable file is replaced.
    }
    replace(device, place, cache);
}

void add_faults(const DeviceInfo& device, const TuningCachePlace& place, const TuningCache& faults) {
    TuningCache cache;
    try {
        cache = read_tuning_cache(device, place);
    } catch (const InputError&) {
        // An unreadable file is replaced.
    }
    if (faults.checked) cache.checked = faults.checked;
    cache.merge(faults);
    for (const auto& [family, candidates] : faults.refused)
        for (const auto& [candidate, fault] : candidates)
            std::erase_if(cache.chosen, [&](const auto& entry) { return entry.second.kernel == candidate; });
    replace(device, place, cache);
}

std::size_t forget_faults(const DeviceInfo& device, const TuningCachePlace& place) {
    TuningCache cache = read_tuning_cache(device, place);
    std::size_t faults = cache.wrong.size() + (cache.matrices ? cache.matrices->size() : 0);
    for (const auto& [family, candidates] : cache.refused) faults += candidates.size();
    if (faults == 0) return 0;
    cache.refused.clear();
    cache.wrong.clear();
    cache.matrices.reset();
    cache.checked.reset();
    replace(device, place, cache);
    return faults;
}

}  // namespace vkf
