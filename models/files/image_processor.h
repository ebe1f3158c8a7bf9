// preprocessor_config.json: how an image becomes a vision transformer's input, in Hugging Face's keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "models/images/normalise.h"

namespace vkf {

/// Mean and deviation of the file's image_mean and image_std. Throws InputError naming file, key and value, also where
/// the file asks for another scale of bytes than 1/255.
Statistics read_image_processor(const std::filesystem::path& path);

/// For images of side `side`, as ViTImageProcessor reads it.
std::string image_processor_text(const Statistics& statistics, std::int64_t side);

}  // namespace vkf
