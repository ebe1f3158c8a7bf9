// The image part of `vkformer data`.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace CLI {
class App;
}

namespace vkf {

struct Common;

/// Adds cifar10, cifar100 and synthetic-images to the subcommand `data`.
void add_data_images(CLI::App& data, Common& common);

/// What a directory of images holds: splits, size, classes, images per class.
nlohmann::ordered_json image_facts(const std::filesystem::path& directory);

}  // namespace vkf
