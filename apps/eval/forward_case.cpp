#include "apps/eval/forward_case.h"

#include <memory>

#include "apps/model.h"
#include "base/files/safetensors.h"
#include "models/image_model.h"
#include "models/language_model.h"

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
    ForwardCase made{"tokens", "targets", {DType::i32, Shape(shape)}, {}, {}, {DType::i32, Shape(shape)}, {}, {}, {}};
    made.tokens = integers(file, "tokens", vocabulary, false);
    if (file.contains("targets")) {
        require(file.at("targets").shape == shape, options.input, ": targets has shape ",
                Shape(file.at("targets").shape), ", wanted that of tokens, ", Shape(shape));
        made.targets = integers(file, "targets", vocabulary, true);
    }
    made.logits = [model](const Scope& scope, Tensor tokens) { return language_logits(scope, model->config, tokens); };
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
    ForwardCase made{"images", "labels", {DType::f32, Shape(shape)}, {}, {}, {DType::i32, {shape[0]}}, {}, {}, {}};
    made.images = file.read_f32("images");
    if (file.contains("labels")) {
        require(Shape(file.at("labels").shape) == Shape{shape[0]}, options.input, ": labels has shape ",
                Shape(file.at("labels").shape), ", wanted [", shape[0], "]");
        made.targets = integers(file, "labels", model->config.size(Dimension::classes), true);
    }
    made.logits = [model](const Scope& scope, Tensor images) { return image_logits(scope, model->config, images); };
    made.load = [model](const Parameters& parameters, State& state) { model->load(parameters, state); };
    return made;
}

}  // namespace vkf
