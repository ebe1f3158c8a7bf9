// Shared by tests of golden files: their folder, and functions that read and compare numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/safetensors.h"

namespace vkf::test {

inline const std::filesystem::path golden = "tests/golden";  // ctest runs in the project's folder

inline nlohmann::json read_json(const std::filesystem::path& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file);
}

inline std::vector<std::int32_t> integers(const Safetensors& file, std::string_view name) {
    const std::vector<std::int64_t> wide = file.read_i64(name);
    return {wide.begin(), wide.end()};
}

inline double length(std::span<const float> values) {
    double square = 0;
    for (const float x : values) square += static_cast<double>(x) * static_cast<double>(x);
    return std::sqrt(square);
}

/// ‖a − b‖
inline double distance(std::span<const float> a, std::span<const float> b) {
    EXPECT_EQ(a.size(), b.size());
    std::vector<float> error(b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) error[i] = a[i] - b[i];
    return length(error);
}

/// ‖got − want‖ / max(‖want‖, floor)
inline double difference(std::span<const float> got, std::span<const float> want, double floor = 0) {
    return distance(got, want) / std::max({length(want), floor, 1e-30});
}

/// Largest relative error allowed. `rounding`, from the files, is the change of a result when every weight is rounded
/// once. Each block rounds about a dozen results forward and twice as many backward; over two or three blocks that is
/// 64 such errors of random sign. Over training steps they add up no faster than an initial error grows.
inline double tolerance(double rounding) {
    return std::sqrt(64.0) * rounding;
}

/// Compares logits, loss and every gradient, by name, with those in a case's file. `terms_of` names, for a gradient
/// that is a sum or difference of larger terms, another one that is as large as the terms; "" for others.
inline void expect_golden(const Safetensors& expected,
                          const std::function<std::vector<float>(const std::string&)>& read,
                          double logits_limit = 2e-6,
                          const std::function<std::string(const std::string&)>& terms_of = {}) {
    EXPECT_LE(difference(read("logits"), expected.read_f32("logits")), logits_limit);
    EXPECT_LE(difference(read("loss"), expected.read_f32("loss")), 2e-6);
    const std::string prefix = "grad.";
    double largest = 0;
    for (const StoredTensor& stored : expected.tensors())
        if (stored.name.starts_with(prefix)) largest = std::max(largest, length(expected.read_f32(stored.name)));
    for (const StoredTensor& stored : expected.tensors()) {
        if (!stored.name.starts_with(prefix)) continue;
        // The gradient of a learned scale is a sum whose terms nearly cancel: its error is relative to the terms.
        const std::string terms = "terms." + stored.name.substr(prefix.size());
        double size = expected.contains(terms) ? length(expected.read_f32(terms)) : 1e-4 * largest;
        const std::string other = terms_of ? terms_of(stored.name) : "";
        if (!other.empty()) size = std::max(size, length(expected.read_f32(other)));
        EXPECT_LE(difference(read(stored.name), expected.read_f32(stored.name), size),
                  tolerance(static_cast<double>(expected.read_f32("rounding")[0])))
            << stored.name;
    }
}

/// Sorted names of the folders of tests/golden that hold case.safetensors and the file `config` (of a model or of
/// adapters). With `quiet`, only cases without noise.
inline std::vector<std::string> golden_cases(bool quiet = false, const char* config = "config.json") {
    std::vector<std::string> names;
    std::error_code missing;  // if the folder is missing, the list is empty, and HostGolden fails
    for (const auto& entry : std::filesystem::directory_iterator(golden, missing)) {
        const std::filesystem::path file = entry.path() / "case.safetensors";
        if (!std::filesystem::exists(file) || !std::filesystem::exists(entry.path() / config)) continue;
        if (quiet && Safetensors::open(file).contains("seed")) continue;
        names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
}

/// Converts a folder's name to a test's: vit-kk becomes vit_kk.
inline std::string golden_id(const ::testing::TestParamInfo<std::string>& info) {
    std::string id = info.param;
    std::replace(id.begin(), id.end(), '-', '_');
    return id;
}

}  // namespace vkf::test
