#include "apps/data/data_preview.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/output_file.h"
#include "apps/train/image_options.h"
#include "models/families/family.h"
#include "models/images/drawing/drawing.h"
#include "models/images/image_file.h"

namespace vkf {

namespace {

/// Every family of images has the options used here.
const Family& any_image_family() {
    return **std::ranges::find_if(families(), [](const Family* family) { return &family->task() == &image_task(); });
}

struct PreviewOptions {
    ImageRunOptions training{any_image_family()};  // defaults and meaning as in the family's `train`
    std::string out;
    std::int64_t count = 12, views = 8, scale = 3, epoch = 0;
};

/// Layout of images on a sheet: one row per image, the original and then its views, captions below.
struct Layout {
    int scale;     // scale of images
    int text;      // scale of text
    int cell;      // side of an image
    int captions;  // lines

    Layout(int side, int scale_, int captions_)
        : scale(scale_), text(side * scale_ >= 192 ? 2 : 1), cell(side * scale_), captions(captions_) {}

    int gap() const { return 6 * text; }
    int margin() const { return 2 * gap(); }
    int line() const { return (text_height + 3) * text; }
    int heading() const { return 2 * line() + gap(); }
    int across() const { return cell + gap(); }
    int down() const { return cell + captions * line() + gap(); }

    int left(int view) const { return margin() + view * across() + (view > 0 ? gap() : 0); }  // view 0: the original
    int top(int row) const { return margin() + heading() + row * down(); }
    int width(int views) const { return left(views + 1) - gap() + margin(); }
    int height(int rows) const { return top(rows) - gap() + margin(); }

    int most_views() const { return (Image::longest_side - width(0)) / across(); }
    int most_rows() const { return (Image::longest_side - height(0)) / down(); }
    bool has_room() const { return most_views() >= 1 && most_rows() >= 1; }
};

Layout checked_layout(const PreviewOptions& o, const ImageSet& set) {
    const int side = static_cast<int>(set.side), captions = o.training.mix > 0 ? 2 : 1;
    int scale = static_cast<int>(std::min<std::int64_t>(o.scale, Image::longest_side / side));
    while (scale > 0 && !Layout(side, scale, captions).has_room()) --scale;
    require(scale > 0, "images of side ", side, " are too large for a sheet, wanted a smaller --image-size");
    require(o.scale == scale, "--scale is ", o.scale, ", wanted at most ", scale, " for images of side ", side);
    const Layout layout(side, scale, captions);
    const auto check = [&](const char* name, std::int64_t value, int most, const char* direction) {
        require(value <= most, name, " is ", value, ", wanted at most ", most, " at --scale ", scale,
                ": a sheet is at most ", Image::longest_side, " pixels ", direction);
    };
    check("--views", o.views, layout.most_views(), "wide");
    check("--count", o.count, layout.most_rows(), "high");
    return layout;
}

class Sheet {
public:
    Sheet(const PreviewOptions& o, const ImageSet& set)
        : o_(o),
          set_(set),
          layout_(checked_layout(o, set)),
          rows_(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(o.count), set.train.size()))),
          image_(layout_.width(static_cast<int>(o.views)), layout_.height(rows_), paper) {
        choose();
        draw_heading();
        for (int row = 0; row < rows_; ++row) draw_original(row);
        draw_views();
    }

    int rows() const { return rows_; }
    const Image& image() const { return image_; }

private:
    /// Chooses the images that training shows first in the first epoch of the sheet.
    void choose() {
        const auto order = epoch_order({.images = set_.train.size(), .seed = o_.training.seed}, first_epoch());
        chosen_ = set_.train.none();
        for (int row = 0; row < rows_; ++row) chosen_.add(set_.train, order[static_cast<std::size_t>(row)]);
    }

    void draw_heading() {
        const ImageRunOptions& t = o_.training;
        const std::string title = text(t.augment, t.auto_augment.empty() ? "" : ", " + t.auto_augment, ", mix ", t.mix,
                                       ", label smoothing ", t.label_smoothing, ", seed ", t.seed);
        draw_text(image_, fit_text(title, image_.width() - 2 * layout_.margin(), layout_.text), layout_.margin(),
                  layout_.margin(), ink, layout_.text);
        for (int view = 0; view <= o_.views; ++view) {
            const std::string name = view == 0 ? "original" : text("epoch ", o_.epoch + view - 1);
            const int top = layout_.top(0) - layout_.line();
            draw_text_in(image_, name, {layout_.left(view), top, layout_.cell, layout_.line()}, faint_ink,
                         layout_.text);
        }
    }

    void draw_original(int row) {
        const auto place = static_cast<std::size_t>(row);
        const int side = static_cast<int>(set_.side);
        Picture picture;
        chosen_.read_square(place, picture);
        Image original(side, side);
        std::ranges::copy(picture.rgb, original.bytes().begin());
        draw(original, 0, row);
        caption(0, row, 0, set_.class_names[static_cast<std::size_t>(chosen_.label(place))], "");
    }

    /// Draws the batches of training on the chosen images alone, all in one batch, so that both images of a mix are on
    /// the sheet.
    void draw_views() {
        ImageBatchOptions training = o_.training.batches();
        training.batch = static_cast<std::size_t>(rows_);
        ImageBatches batches(set_, chosen_, training);
        const int side = static_cast<int>(set_.side);
        Image seen(side, side);
        const std::size_t elements = seen.bytes().size(), classes = set_.classes();
        for (int view = 1; view <= o_.views; ++view) {
            const std::uint64_t epoch = first_epoch() + static_cast<std::uint64_t>(view) - 1;
            const ImageBatch batch = batches.at(epoch);
            const auto order = epoch_order({.images = chosen_.size(), .seed = training.seed}, epoch);
            for (std::size_t place = 0; place < order.size(); ++place) {
                const int row = static_cast<int>(order[place]);
                denormalise(std::span(batch.images).subspan(place * elements, elements), training.statistics, seen);
                draw(seen, view, row);
                caption(view, row, std::span(batch.targets).subspan(place * classes, classes));
            }
        }
    }

    void draw(const Image& image, int view, int row) {
        draw_image(image_, image, layout_.left(view), layout_.top(row), layout_.scale);
    }

    /// Writes the classes with the largest weights, without classes that have only the weight that label smoothing
    /// gives to all.
    void caption(int view, int row, std::span<const float> weights) {
        const double all = o_.training.label_smoothing / static_cast<double>(weights.size());
        std::vector<std::size_t> classes(weights.size());
        std::iota(classes.begin(), classes.end(), std::size_t{0});
        std::ranges::stable_sort(classes, std::ranges::greater(), [&](std::size_t c) { return weights[c]; });
        for (int line = 0; line < std::min(layout_.captions, static_cast<int>(classes.size())); ++line) {
            const std::size_t c = classes[static_cast<std::size_t>(line)];
            const double weight = static_cast<double>(weights[c]);
            if (line == 0 || weight > all + 1e-6)
                caption(view, row, line, set_.class_names[c], text(" ", std::lround(100 * weight), "%"));
        }
    }

    /// Writes one line below an image; only the beginning of a long name.
    void caption(int view, int row, int line, const std::string& name, const std::string& ending) {
        const int room = layout_.cell - text_width("  " + ending, layout_.text);
        const Box box{layout_.left(view), layout_.top(row) + layout_.cell + line * layout_.line(), layout_.cell,
                      layout_.line()};
        draw_text_in(image_, fit_text(name, room, layout_.text) + ending, box, ink, layout_.text);
    }

    std::uint64_t first_epoch() const { return static_cast<std::uint64_t>(o_.epoch); }

    const PreviewOptions& o_;
    const ImageSet& set_;
    Layout layout_;
    int rows_;
    Image image_;
    Images chosen_;
};

void preview(const Common& common, PreviewOptions& o) {
    o.training.seed = common.seed;
    require_output("--out", o.out, {o.training.data});
    const ImageSet set = o.training.images(common, o.training.data);
    require(set.train.size() > 0, "data ", o.training.data, ": there are no training images");
    const Sheet sheet(o, set);
    write_png(o.out, sheet.image());
    const int width = sheet.image().width(), height = sheet.image().height();
    if (common.json)
        return print_json({{"out", o.out},
                           {"images", sheet.rows()},
                           {"views", o.views},
                           {"augment", o.training.augment},
                           {"mix", o.training.mix},
                           {"label_smoothing", o.training.label_smoothing},
                           {"width", width},
                           {"height", height}});
    print(text(sheet.rows(), " training images and ", o.views, " views of each in ", o.out, ", ", width, 'x', height,
               " pixels.\n"));
}

}  // namespace

void add_data_preview(cli::Command& data, Common& common) {
    cli::Command& part = data.add_subcommand("preview", "A picture of training images as the network gets to see them");
    auto o = std::make_shared<PreviewOptions>();
    o->training.declare_images(part);
    part.add_option("--out", o->out, "PNG file to write").required().type_name("FILE");
    const auto number = [&](const char* name, std::int64_t& value, std::int64_t least, const char* help) {
        part.add_option(name, value, help).type_name("N").check(whole(least)).capture_default_str();
    };
    number("--count", o->count, 1, "Images, if there are as many");
    number("--views", o->views, 1, "Views of each, one from every epoch");
    number("--scale", o->scale, 1, "Side of a pixel");
    number("--epoch", o->epoch, 0, "First epoch");
    part.footer(
        "Examples:\n  vkformer data preview --data data/cifar10 --out preview.png\n"
        "  vkformer data preview --data data/cifar10 --augment randaugment --mix 0 --views 12 --out preview.png\n");
    part.callback([o, &common] { preview(common, *o); });
    add_common(part, common);
}

}  // namespace vkf
