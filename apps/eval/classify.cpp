// vkformer classify: classes of pictures by a vision model, and maps of its attention.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/model.h"
#include "apps/train/image_options.h"
#include "base/integers.h"
#include "base/text/plain_text.h"
#include "models/attention/attention_taps.h"
#include "models/attention/variant.h"
#include "models/generation/sampling.h"
#include "models/image_model.h"
#include "models/images/drawing/attention_map.h"
#include "models/images/drawing/drawing.h"
#include "models/images/image_file.h"
#include "models/probes/rollout.h"
#include "ops/attention/attention.h"
#include "ops/movement/view.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct ClassifyOptions {
    std::string model, statistics, maps;
    bool overwrite = false, verify = true;
    std::vector<std::string> images;
    std::int64_t top = 5;
    std::int64_t max_pixels = DEFAULT_MAX_PIXELS;
};

/// A picture scaled to the model's size, or the reason why it cannot be read.
struct ReadPicture {
    std::string file;
    std::optional<Image> image;
    std::string complaint;
};

/// Runs the model on one picture at a time, with every block's attention weights as outputs.
class Classifier {
public:
    Classifier(Device& device, const Common& common, const ImageModel& model, const Statistics& statistics,
               bool attention)
        : normalise_(statistics), state_(device) {
        graph_.activations = common.activations();
        Parameters parameters;
        const Tensor images = graph_.input("images", image_type(model.config, 1));
        Taps taps;
        if (attention) taps.names = {std::string(tap::weights)};
        graph_.output("logits", image_logits(Scope(graph_, parameters).with_taps(&taps), model.config, images));
        for (const Tapped& block : taps.found) graph_.output(block.output(), block.tensor);
        blocks_ = std::move(taps.found);
        program_.emplace(device, graph_, state_);
        model.load(parameters, state_);
    }

    /// Probabilities of the classes. Throws Error if a logit is not finite.
    std::vector<double> operator()(const Image& image, const std::string& file) {
        std::vector<float> planes(image.bytes().size());
        normalise_(image, planes);
        program_->write("images", planes);
        program_->run();
        const std::vector<float> logits = program_->read("logits");
        const auto bad = std::ranges::find_if(logits, [](float x) { return !std::isfinite(x); });
        if (bad != logits.end())
            throw Error(file, ": the logit of class ", bad - logits.begin(), " is ", *bad,
                        "; the first number that is not finite: ", program_->find_non_finite());
        return probabilities(logits, {.temperature = 1.0, .top_k = 0});
    }

    /// Attention weights of every block on the last picture.
    std::vector<AttentionWeights> weights() {
        std::vector<AttentionWeights> blocks;
        for (const Tapped& block : blocks_) {
            const std::vector<float> weights = program_->read(block.output());
            blocks.push_back({as_index(block.tensor.shape()[1]),
                              as_index(block.tensor.shape()[2]),
                              {weights.begin(), weights.end()}});
        }
        return blocks;
    }

private:
    Normaliser normalise_;
    State state_;
    Graph graph_;
    std::vector<Tapped> blocks_;  // attention weights, if they are wanted
    std::optional<Program> program_;
};

constexpr int MAP_SIDE = 256, HEAD_SIDE = 96, GAP = 6;  // pixels; many heads are drawn smaller

/// The picture next to its attention rollout.
Image rollout_picture(const Image& picture, std::span<const AttentionWeights> blocks) {
    Image sheet(2 * MAP_SIDE + 3 * GAP, MAP_SIDE + 2 * GAP, paper);
    draw_image(sheet, picture, GAP, GAP);
    const std::vector<double> shares = rollout(blocks, 0);
    draw_image(sheet, overlay(picture, std::span(shares).subspan(1)), MAP_SIDE + 2 * GAP, GAP);
    return sheet;
}

/// Attention of the class token: one row of heads per block.
Image heads_picture(const Image& picture, std::span<const AttentionWeights> blocks) {
    const int cell = picture.width() + GAP;
    Image sheet(static_cast<int>(blocks.front().heads) * cell + GAP, static_cast<int>(blocks.size()) * cell + GAP,
                paper);
    for (std::size_t block = 0; block < blocks.size(); ++block)
        for (std::size_t head = 0; head < blocks[block].heads; ++head)
            draw_image(sheet, overlay(picture, blocks[block].row(head, 0).subspan(1)),
                       GAP + static_cast<int>(head) * cell, GAP + static_cast<int>(block) * cell);
    return sheet;
}

/// Files for a picture's maps: the rollout, and the heads.
std::array<fs::path, 2> map_files(const fs::path& folder, const std::string& file) {
    const std::string stem = fs::path(file).stem().string();
    return {folder / (stem + ".rollout.png"), folder / (stem + ".heads.png")};
}

/// Makes the directory of maps. Throws InputError if a map would replace a file or another picture's map.
void prepare_maps(const ClassifyOptions& o) {
    std::map<fs::path, std::string> pictures;
    for (const std::string& file : o.images)
        for (const fs::path& made : map_files(o.maps, file)) {
            std::error_code ignored;
            require(o.overwrite || !fs::exists(made, ignored), made.string(),
                    " is there already; --overwrite replaces it");
            const auto [other, fresh] = pictures.emplace(made, file);
            require(fresh, o.maps, ": ", other->second, " and ", file, " both have their map in ", made.string());
            for (const std::string& picture : o.images)
                require(!fs::equivalent(made, picture, ignored), made.string(), " is a picture to classify");
        }
    std::error_code error;
    fs::create_directories(o.maps, error);
    if (error) throw Error(o.maps, ": cannot make the directory: ", error.message());
}

/// Writes the maps over the part of the picture that the model, which takes squares of side `its_side`, sees.
void write_maps(const ClassifyOptions& o, const std::string& file, const ImageFit& fit, std::int64_t its_side,
                std::span<const AttentionWeights> blocks) {
    const auto shown = [&](int side) {
        ImageFit larger = fit;
        larger.shorter = static_cast<int>(std::int64_t{fit.shorter} * side / its_side);
        return read_square_image(file, side, o.max_pixels, larger);
    };
    const auto [whole, heads] = map_files(o.maps, file);
    write_png(whole, rollout_picture(shown(MAP_SIDE), blocks));
    const int most = static_cast<int>(std::max(blocks.size(), blocks.front().heads));
    const int side = std::clamp((Image::longest_side - GAP) / most - GAP, 1, HEAD_SIDE);
    write_png(heads, heads_picture(shown(side), blocks));
}

/// Reads a picture and scales it to the model's size; if it cannot be read, notes and returns the reason.
ReadPicture read_picture(const Common& common, const ClassifyOptions& o, const std::string& file, int side,
                         const ImageFit& fit) {
    try {
        return {file, read_square_image(file, side, o.max_pixels, fit), ""};
    } catch (const InputError& error) {
        if (o.images.size() > 1) note(common, error.what());
        return {file, std::nullopt, error.what()};
    }
}

/// Indices of the `top` most probable classes, most probable first.
std::vector<std::size_t> ranking(std::span<const double> share, std::size_t top) {
    std::vector<std::size_t> order(share.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return share[a] > share[b]; });
    order.resize(std::min(top, order.size()));
    return order;
}

void classify(Device& device, const Common& common, const ClassifyOptions& o, const ImageModel& model,
              const ImageProcessor& processor, std::span<const ReadPicture> pictures) {
    Classifier classifier(device, common, model, processor.statistics, !o.maps.empty());
    auto document = ordered_json::array();
    for (const auto& [file, image, complaint] : pictures) {
        stop_if_interrupted();
        if (!image) {
            document.push_back({{"image", file}, {"error", complaint}});
            continue;
        }
        const std::vector<double> share = classifier(*image, file);
        if (!o.maps.empty()) write_maps(o, file, processor.fit, image->width(), classifier.weights());
        auto classes = ordered_json::array();
        std::string line = plain_line(file) + ":";
        for (const std::size_t i : ranking(share, static_cast<std::size_t>(o.top))) {
            const std::string label = model.config.label(i);
            classes.push_back({{"class", i}, {"label", label}, {"probability", share[i]}});
            line += text(classes.size() == 1 ? " " : ", ", plain_line(label), " ", percent_text(share[i]));
        }
        if (!common.json) print(line + "\n");
        document.push_back({{"image", file}, {"classes", classes}});
    }
    if (common.json) print_json(document);
}

void run(const Common& common, const ClassifyOptions& o) {
    const ImageModel model = open_image_model({o.model, {}, o.verify});
    const Size channels = model.config.size(Dimension::channels);
    require(channels == 3, channels.key, " is ", channels.value, ", pictures have 3");
    const ImageProcessor processor = model.processor(o.statistics);
    const std::int64_t side = model.config.size(Dimension::image_size);
    std::vector<ReadPicture> pictures;
    for (const std::string& file : o.images)
        pictures.push_back(read_picture(common, o, file, static_cast<int>(side), processor.fit));
    const auto unread = std::ranges::count_if(pictures, [](const ReadPicture& picture) { return !picture.image; });
    require(pictures.size() > 1 || unread == 0, pictures[0].complaint);
    require(unread < std::ssize(pictures), "none of ", pictures.size(), " pictures can be read");
    if (!o.maps.empty()) model.config.attention().require_weights("--attention-maps");
    if (!o.maps.empty()) prepare_maps(o);
    catch_interrupts();
    with_device(common, [&](Device& device) { classify(device, common, o, model, processor, pictures); });
    require(unread == 0, unread, " of ", pictures.size(), " pictures cannot be read, the others are classified");
}

}  // namespace

void add_classify(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("classify", "Name what pictures show, and where the model looks");
    auto options = std::make_shared<ClassifyOptions>();
    command.add_option("--model", options->model, "Model directory of a vision model").required().type_name("DIR");
    add_verify_option(command, options->verify);
    command.add_option("images", options->images, "PNG, JPEG or WebP files").required().type_name("IMAGE");
    command.add_option("--top", options->top, "Classes to name").type_name("N").check(whole(1)).capture_default_str();
    command
        .add_option("--attention-maps", options->maps,
                    "Directory for IMAGE.rollout.png and IMAGE.heads.png: attention over the picture")
        .type_name("DIR");
    command.add_flag("--overwrite", options->overwrite, "Replace maps that are there");
    add_statistics_option(command, options->statistics);
    add_max_pixels_option(command, options->max_pixels);
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer classify --model out/best cat.jpg\n"
        "  vkformer classify --model out/best --top 3 --attention-maps maps *.png\n"
        "\n"
        "A picture is turned as its camera noted, resized and cut as preprocessor_config.json says. Rollout follows\n"
        "the attention weights from the class token back through all blocks; heads shows what the class token attends\n"
        "to, a row for every block. Pictures that cannot be read are said, and the status is 2 when the others are "
        "done.\n");
    command.callback([options, &common] { run(common, *options); });
}

}  // namespace vkf
