#include "models/tokenizers/sentencepiece/piece_model.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text/json.h"
#include "models/tokenizers/sentencepiece/model_proto.h"
#include "models/tokenizers/sentencepiece/processor_calls.h"

namespace vkf {
namespace {

ModelProto read_proto(std::string_view content, const std::string& file) {
    std::optional<ModelProto> proto = ModelProto::read(content);
    require(proto.has_value(), file, " is no SentencePiece model (", content.size(), " bytes)");
    require(proto->denormalizer.rules == 0, file, ": the model rewrites the text of its pieces by the rules ",
            one_line(nlohmann::json(proto->denormalizer.name)), ", wanted one that leaves it as it is");
    require(!proto->spaces_as_suffix, file, ": treat_whitespace_as_suffix is true, wanted false");
    return std::move(*proto);
}

TextNormalizer normalizer_of(const ModelProto& proto, const std::string& file) {
    const NormalizerSpec& spec = proto.normalizer;
    Charsmap rules = spec.charsmap.empty() ? Charsmap() : Charsmap(spec.charsmap, file + ": precompiled_charsmap");
    return {std::move(rules), spec.settings, proto.user_defined};
}

}  // namespace

PieceModel::PieceModel(std::string_view content, const std::string& file)
    : file_(file), normalizer_(normalizer_of(read_proto(content, file), file)) {
    const std::string plain = read_proto(content, file).plain;
    const auto processor = std::make_shared<sentencepiece::SentencePieceProcessor>();
    const bool loaded =
        succeeds([&] { return processor->LoadFromSerializedProto(plain); }) && processor->GetPieceSize() > 0;
    require(loaded, file, " is no SentencePiece model (", content.size(), " bytes)");
    processor_ = processor;
}

std::vector<std::string> PieceModel::cut(std::string_view text) const {
    std::vector<std::string> pieces;
    encode_pieces(*processor_, normalizer_(text), &pieces, file_);
    return pieces;
}

std::string PieceModel::bytes(const std::string& piece) const {
    return processor_->IsControl(processor_->PieceToId(piece)) ? "" : bytes_of(*processor_, piece);
}

std::vector<std::string> PieceModel::pieces() const {
    std::vector<std::string> list;
    for (int number = 0; number < processor_->GetPieceSize(); ++number)
        if (!processor_->IsControl(number) && !processor_->IsUnknown(number))
            list.push_back(processor_->IdToPiece(number));
    return list;
}

}  // namespace vkf
