#include "apps/eval/forward_case.h"

#include <memory>
#include <utility>

#include "apps/model.h"
#include "base/files/safetensors.h"
#include "models/image_model.h"
#include "models/language_model.h"
#include "models/sequence_model.h"
#include "models/translation_model.h"

namespace vkf {

namespace {

/// Reads an integer tensor of the file; values must be below a size of the model. Values beyond 32 bits are out of
/// every range.
std::vector<std::int32_t> integers(const Safetensors& file, const std::string& name, const Size& count,
                                   bool may_be_negative) {
    const std::vector<std::int64_t> wide = file.read_i64(name);
    const auto& shape = file.at(name).shape;
    std::vector<std::int32_t> narrow(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const bool ignored = may_be_negative && wide[i] < 0;
        const auto at = static_cast<std::int64_t>(i);
        const std::string place = shape.size() == 2 ? text(at / shape[1], ", ", at % shape[1]) : text(at);
        require(ignored || (wide[i] >= 0 && wide[i] < count), file.path().string(), ": ", name, "[", place, "] is ",
                wide[i], ", wanted 0 to ", count - 1, " (", count.key, " ", count.value, ")");
        narrow[i] = ignored ? -1 : static_cast<std::int32_t>(wide[i]);
    }
    return narrow;
}

/// Hint for a file that has the other kind of model's input; else empty.
std::string wrong_kind(const Safetensors& file, const char* input, const Family& family) {
    return file.contains(input) ? text("; it has '", input, "', which are not for a ", family.title) : "";
}

/// The tensor `targets`, shaped as the tensor `tokens`; empty if there is none.
std::vector<std::int32_t> targets_like(const ForwardOptions& options, const Safetensors& file,
                                       const std::string& tokens, const Size& vocabulary) {
    if (!file.contains("targets")) return {};
    const auto& shape = file.at(tokens).shape;
    require(file.at("targets").shape == shape, options.input, ": targets has shape ", Shape(file.at("targets").shape),
            ", wanted that of ", tokens, ", ", Shape(shape));
    return integers(file, "targets", vocabulary, true);
}

/// Sentences of a side: the tensors `tokens`, [B, T], and `lengths`, [B], of at least 1 and at most T.
std::vector<ForwardTensor> sentences_of(const ForwardOptions& options, const Safetensors& file,
                                        const std::string& tokens, const std::string& lengths, const Size& vocabulary,
                                        const Size& context) {
    for (const std::string& name : {tokens, lengths})
        require(file.contains(name), options.input, ": tensor '", name, "' I64 or I32 is missing");
    const auto &shape = file.at(tokens).shape, &of_lengths = file.at(lengths).shape;
    require(shape.size() == 2 && shape[0] > 0 && shape[1] > 0, options.input, ": ", tokens, " has shape ", Shape(shape),
            ", wanted [B, T] with at least one token");
    require(shape[1] <= context, options.input, ": ", tokens, " has ", shape[1], " positions, the model has ",
            context.key, " ", context.value);
    require(of_lengths.size() == 1 && of_lengths[0] == shape[0], options.input, ": ", lengths, " has shape ",
            Shape(of_lengths), ", wanted [", shape[0], "]");
    return {{tokens, {DType::i32, Shape(shape)}, integers(file, tokens, vocabulary, false), {}},
            {lengths, {DType::i32, {shape[0]}}, integers(file, lengths, {tokens, shape[1] + 1}, false), {}}};
}

}  // namespace

ForwardCase language_case(const ForwardOptions& options, const Safetensors& file) {
    const auto model =
        std::make_shared<const Model>(open_untokenized_model({options.model, options.base, options.verify}));
    require(file.contains("tokens"), options.input, ": tensor 'tokens' I64 or I32 [B, T] is missing",
            wrong_kind(file, "images", model->family()));
    const auto& shape = file.at("tokens").shape;
    require(shape.size() == 2 && shape[0] > 0 && shape[1] > 0, options.input, ": tokens has shape ", Shape(shape),
            ", wanted [B, T] with at least one token");
    const Size context = model->config.size(Dimension::context), vocabulary = model->config.size(Dimension::vocab_size);
    require(shape[1] <= context, options.input, ": tokens has ", shape[1], " positions, the model has ", context.key,
            " ", context.value);
    const TensorType type{DType::i32, Shape(shape)};
    ForwardCase made{{{"tokens", type, integers(file, "tokens", vocabulary, false), {}}},
                     {"targets", type, targets_like(options, file, "tokens", vocabulary), {}},
                     {},
                     {}};
    made.logits = [model](const Scope& scope, std::span<const Tensor> in) {
        return language_logits(scope, model->config, in[0]);
    };
    made.load = [model](const Parameters& parameters, State& state) { model->load(parameters, state); };
    return made;
}

ForwardCase image_case(const ForwardOptions& options, const Safetensors& file) {
    const auto model = std::make_shared<const ImageModel>(open_image_model({options.model, {}, options.verify}));
    require(file.contains("images"), options.input, ": tensor 'images' F32 [B, C, H, W] is missing",
            wrong_kind(file, "tokens", model->family()));
    const std::vector<std::int64_t>& shape = file.at("images").shape;
    const Shape one = image_type(model->config, 1).shape;
    const bool fits = shape.size() == 4 && shape[0] > 0 && Shape(shape) == image_type(model->config, shape[0]).shape;
    require(fits, options.input, ": images has shape ", Shape(shape), ", wanted [B, ", one[1], ", ", one[2], ", ",
            one[3], "]");
    ForwardCase made{{{"images", {DType::f32, Shape(shape)}, {}, file.read_f32("images")}},
                     {"labels", {DType::i32, {shape[0]}}, {}, {}},
                     {},
                     {}};
    if (file.contains("labels")) {
        require(Shape(file.at("labels").shape) == Shape{shape[0]}, options.input, ": labels has shape ",
                Shape(file.at("labels").shape), ", wanted [", shape[0], "]");
        made.targets.integers = integers(file, "labels", model->config.size(Dimension::classes), true);
    }
    made.logits = [model](const Scope& scope, std::span<const Tensor> in) {
        return image_logits(scope, model->config, in[0]);
    };
    made.load = [model](const Parameters& parameters, State& state) { model->load(parameters, state); };
    return made;
}

ForwardCase translation_case(const ForwardOptions& options, const Safetensors& file) {
    const auto model = std::make_shared<const Model>(
        open_untokenized_translation_model({options.model, options.base, options.verify}));
    const TranslationTokens tokens = translation_tokens(model->config);
    const Size context = model->config.size(Dimension::context);
    const Size target{"the targets' vocabulary", tokens.target_vocabulary};
    ForwardCase made;
    made.inputs = sentences_of(options, file, "source_tokens", "source_lengths",
                               model->config.size(Dimension::vocab_size), context);
    for (ForwardTensor& of_target : sentences_of(options, file, "tokens", "target_lengths", target, context))
        made.inputs.push_back(std::move(of_target));
    require(made.inputs[0].type.shape[0] == made.inputs[2].type.shape[0], options.input, ": source_tokens has ",
            made.inputs[0].type.shape[0], " rows, tokens has ", made.inputs[2].type.shape[0]);
    made.targets = {"targets", made.inputs[2].type, targets_like(options, file, "tokens", target), {}};
    made.logits = [model](const Scope& scope, std::span<const Tensor> in) {
        return translation_logits(scope, model->config, {in[0], in[1]}, {in[2], in[3]});
    };
    made.load = [model](const Parameters& parameters, State& state) { model->load(parameters, state); };
    return made;
}

ForwardCase sequence_case(const ForwardOptions& options, const Safetensors& file) {
    const auto model =
        std::make_shared<const Model>(open_untokenized_sequence_model({options.model, options.base, options.verify}));
    const ModelConfig& config = model->config;
    ForwardCase made;
    made.inputs = sentences_of(options, file, "tokens", "lengths", config.size(Dimension::vocab_size),
                               config.size(Dimension::context));
    made.targets = {
        "targets", made.inputs[1].type, targets_like(options, file, "lengths", config.size(Dimension::classes)), {}};
    made.logits = [model](const Scope& scope, std::span<const Tensor> in) {
        return sequence_logits(scope, model->config, {in[0], in[1]});
    };
    made.load = [model](const Parameters& parameters, State& state) { model->load(parameters, state); };
    return made;
}

}  // namespace vkf
