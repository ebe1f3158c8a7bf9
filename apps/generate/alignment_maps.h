// Pictures of what a translation model reads: vkformer translate --attention-maps.
#pragma once

#include <cstddef>
#include <filesystem>

#include "apps/generate/translate_lines.h"

namespace vkf {

/// Makes the directory of pictures. Throws InputError if the picture of one of so many lines would replace a file; the
/// file of these lines is never replaced.
void prepare_alignment_maps(const std::filesystem::path& folder, const std::filesystem::path& read, std::size_t lines,
                            bool overwrite);

/// Writes FOLDER/LINE.svg for every line that has a translation, of which it shows the best; lines are numbered from 1.
void write_alignment_maps(Device& device, const Common& common, const TranslationModel& model,
                          const std::filesystem::path& folder, const Translations& made);

}  // namespace vkf
