// A SentencePiece model's file, as far as its texts are concerned: the ModelProto of sentencepiece_model.proto.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/sentencepiece/text_normalizer.h"

namespace vkf {

/// A NormalizerSpec of the file.
struct NormalizerSpec {
    std::string_view name, charsmap;  // of several, the last
    std::size_t rules = 0;            // bytes of all charsmaps
    NormalizerSettings settings;
};

struct ModelProto {
    NormalizerSpec normalizer, denormalizer;
    std::vector<std::string> user_defined;  // pieces that texts keep as they are
    bool spaces_as_suffix = false;          // words end with spaces, instead of beginning with them
    std::string plain;                      // the model with a normalizer that changes nothing

    /// Reads the file's bytes, which must outlive the result. Nothing if they are no message.
    static std::optional<ModelProto> read(std::string_view bytes);
};

}  // namespace vkf
