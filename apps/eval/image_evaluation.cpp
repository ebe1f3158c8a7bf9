#include "apps/eval/image_evaluation.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "program/program.h"

namespace vkf {

void require_fit(const ImageSet& set, const std::string& data, const ModelConfig& model, const std::string& config) {
    const auto fits = [&](const char* what, std::size_t found, const char* unit, Dimension dimension) {
        const Size wanted = model.size(dimension);
        require(std::cmp_equal(found, wanted.value), "data ", data, ": ", what, found, unit, ", ", config, "'s ",
                wanted.key, " is ", wanted.value);
    };
    fits("its images have a side of ", set.side, "", Dimension::image_size);
    fits("its images have ", set.channels, " channels", Dimension::channels);
    fits("has ", set.classes(), " classes", Dimension::classes);
    const std::vector<std::string>& names = model.class_names();
    for (std::size_t i = 0; i < names.size(); ++i)
        require(set.class_names[i] == names[i], "data ", data, ": class ", i, " is '", set.class_names[i],
                "', to the model it is '", names[i], "' (", config, ")");
}

ImageEvaluation::ImageEvaluation(const ImageSet& set, const Images& images, const PlainBatchOptions& options)
    : images_(&images), batches_(set, images, options), batch_(options.batch), confusions_(set.classes()) {}

void ImageEvaluation::feed(Program& program, std::uint64_t number) {
    number_ = static_cast<std::size_t>(number);
    const ImageBatch& batch = batches_.at(number);
    program.write("images", batch.images);
    program.write("targets", batch.targets);
}

void ImageEvaluation::update(Program& program) {
    const std::vector<float> logits = program.read("logits");
    const std::size_t classes = confusions_.classes(), first = number_ * batch_;
    const std::size_t rows = std::min(batch_, images_->size() - first);
    for (std::size_t row = 0; row < rows; ++row) {
        const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * classes);
        const auto best = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(classes)) - begin;
        confusions_.add(images_->label(first + row), best);
    }
    loss_ += static_cast<double>(program.read_scalar("loss")) * static_cast<double>(rows);
}

}  // namespace vkf
