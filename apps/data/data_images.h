// The image part of `vkformer data`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;

/// Adds cifar10, cifar100 and synthetic-images to the subcommand `data`.
void add_data_images(cli::Command& data, Common& common);

/// Facts about a directory of images: splits, size, classes, images per class, files that are not read.
nlohmann::ordered_json image_facts(const Common& common, const std::string& directory, std::int64_t max_pixels);

}  // namespace vkf
