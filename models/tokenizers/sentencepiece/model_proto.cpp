#include "models/tokenizers/sentencepiece/model_proto.h"

#include "models/tokenizers/sentencepiece/protobuf_fields.h"

namespace vkf {
namespace {

enum ModelField : std::uint64_t { PIECES = 1, TRAINER = 2, NORMALIZER = 3, DENORMALIZER = 5 };
enum PieceField : std::uint64_t { PIECE = 1, TYPE = 3 };
enum TrainerField : std::uint64_t { WHITESPACE_AS_SUFFIX = 24 };
enum NormalizerField : std::uint64_t {
    NAME = 1,
    CHARSMAP = 2,
    ADD_DUMMY_PREFIX = 3,
    REMOVE_EXTRA_WHITESPACES = 4,
    ESCAPE_WHITESPACES = 5
};

constexpr std::uint64_t USER_DEFINED = 4;  // type of a piece

bool read_normalizer(std::string_view message, NormalizerSpec& spec) {
    ProtobufFields fields(message);
    while (const auto field = fields.next()) {
        const std::string_view bytes = field->bytes.value_or("");
        if (field->number == NAME) spec.name = bytes;
        if (field->number == CHARSMAP) spec.charsmap = bytes, spec.rules += bytes.size();
        if (field->number == ADD_DUMMY_PREFIX) spec.settings.add_dummy_prefix = field->value != 0;
        if (field->number == REMOVE_EXTRA_WHITESPACES) spec.settings.remove_extra_whitespaces = field->value != 0;
        if (field->number == ESCAPE_WHITESPACES) spec.settings.escape_whitespaces = field->value != 0;
    }
    return fields.complete();
}

bool read_piece(std::string_view message, std::vector<std::string>& user_defined) {
    ProtobufFields fields(message);
    std::string_view name;
    std::uint64_t type = 1;
    while (const auto field = fields.next()) {
        if (field->number == PIECE) name = field->bytes.value_or("");
        if (field->number == TYPE) type = field->value;
    }
    if (type == USER_DEFINED) user_defined.emplace_back(name);
    return fields.complete();
}

bool read_trainer(std::string_view message, bool& suffix) {
    ProtobufFields fields(message);
    while (const auto field = fields.next())
        if (field->number == WHITESPACE_AS_SUFFIX) suffix = field->value != 0;
    return fields.complete();
}

}  // namespace

std::optional<ModelProto> ModelProto::read(std::string_view bytes) {
    ModelProto made;
    ProtobufFields fields(bytes);
    bool whole = true;
    while (const auto field = fields.next()) {
        const std::string_view inner = field->bytes.value_or("");
        if (field->number == PIECES) whole = whole && read_piece(inner, made.user_defined);
        if (field->number == TRAINER) whole = whole && read_trainer(inner, made.spaces_as_suffix);
        if (field->number == NORMALIZER) whole = whole && read_normalizer(inner, made.normalizer);
        if (field->number == DENORMALIZER) whole = whole && read_normalizer(inner, made.denormalizer);
        if ((field->number == PIECES || field->number == TRAINER) && field->bytes)
            append_protobuf(made.plain, field->number, inner);
    }
    std::string identity;
    append_protobuf(identity, NAME, "identity");
    for (const std::uint64_t flag : {ADD_DUMMY_PREFIX, REMOVE_EXTRA_WHITESPACES, ESCAPE_WHITESPACES})
        append_protobuf(identity, flag, std::uint64_t{0});
    append_protobuf(made.plain, NORMALIZER, identity);
    return whole && fields.complete() ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace vkf
