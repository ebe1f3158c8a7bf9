// Ten training steps against PyTorch's in double, and the learning rates of published recipes, in tests/golden/training
// (with the programs that made them).

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "device_fixture.h"
#include "golden.h"
#include "models/files/config_json.h"
#include "models/files/weights.h"
#include "models/image_model.h"
#include "models/language_model.h"
#include "models/train/schedule.h"
#include "models/train/trainer.h"

namespace vkf::test {
namespace {

using nlohmann::json;

const std::filesystem::path training = golden / "training";

/// Schedule that a file describes.
std::function<double(std::int64_t)> schedule_of(const json& of) {
    const auto number = [&](const char* key) { return of.at(key).get<double>(); };
    const auto whole = [&](const char* key) { return of.at(key).get<std::int64_t>(); };
    if (of.at("kind") == "nanogpt") {
        const Schedule made{.learning_rate = number("learning_rate"),
                            .min_lr = number("min_lr"),
                            .warmup_iters = whole("warmup_iters"),
                            .lr_decay_iters = whole("lr_decay_iters")};
        return [made](std::int64_t step) { return made.at(step); };
    }
    if (of.at("kind") == "inverse-sqrt") {
        const Schedule made{.kind = Schedule::Kind::inverse_sqrt,
                            .learning_rate = number("learning_rate"),
                            .warmup_iters = whole("warmup_iters")};
        return [made](std::int64_t step) { return made.at(step); };
    }
    if (of.at("kind") == "trapezoid") {
        const Schedule made{.kind = Schedule::Kind::trapezoid,
                            .learning_rate = number("learning_rate"),
                            .min_lr = number("min_lr"),
                            .warmup_iters = whole("warmup_iters"),
                            .lr_decay_iters = whole("lr_decay_iters"),
                            .warmdown_iters = whole("warmdown_iters")};
        return [made](std::int64_t step) { return made.at(step); };
    }
    EpochSchedule made{.kind = EpochSchedule::Kind::by_epoch,
                       .learning_rate = number("learning_rate"),
                       .epochs = whole("epochs"),
                       .steps_per_epoch = whole("steps_per_epoch")};
    if (of.at("kind") == "by-step") {
        made.kind = EpochSchedule::Kind::by_step;
        made.min_lr = number("min_lr");
        made.warmup_epochs = whole("warmup_epochs");
    }
    return [made](std::int64_t step) { return made.at(step); };
}

TEST(HostSchedule, IsThePublishedCurveAtEveryCorner) {
    const json curves = read_json(training / "schedules.json");
    EXPECT_GE(curves.size(), 11u);
    for (const json& curve : curves) {
        const auto rate = schedule_of(curve);
        // A rate is the sum of a few rounded terms, none larger than the highest rate.
        const double rounding = 8 * 0x1p-53 * curve.at("learning_rate").get<double>();
        for (const json& point : curve.at("points"))
            EXPECT_NEAR(rate(point[0].get<std::int64_t>()), point[1].get<double>(), rounding)
                << curve.at("kind") << " step " << point[0];
    }
}

TEST(HostSchedule, WithoutDecayIsOneRate) {
    for (const std::int64_t step : {0, 1, 5000}) {
        EXPECT_EQ((Schedule{.learning_rate = 0.25, .decay_lr = false}.at(step)), 0.25);
        EXPECT_EQ((EpochSchedule{.learning_rate = 0.25, .decay_lr = false}.at(step)), 0.25);
    }
}

TrainerConfig config_of(const json& o, Format activations) {
    const auto number = [&](const char* key) { return o.at(key).get<double>(); };
    TrainerConfig config;
    config.gradient_accumulation_steps = o.at("accumulation").get<std::int64_t>();
    config.dropout = o.at("dropout").get<float>();
    config.drop_path = o.at("drop_path").get<float>();
    config.seed = o.at("seed").get<std::uint64_t>();
    config.optimizer = {.kind = optimizer_named(o.at("optimizer").get<std::string>()),
                        .beta1 = number("beta1"),
                        .beta2 = number("beta2"),
                        .eps = number("eps"),
                        .momentum = number("momentum"),
                        .weight_decay = number("weight_decay"),
                        .decay_all = o.at("decay_all").get<bool>(),
                        .grad_clip = number("grad_clip")};
    config.activations = activations;
    config.loss_scaling = {.initial = 256, .growth_interval = 3};  // the scale grows, without effect on results
    return config;
}

/// A folder of golden files: the model's loss, and the feed of its micro-batches, by number.
struct Course {
    LossGraph loss;
    Feed feed;
};

/// Elements first … first + count − 1.
template <class T>
std::vector<T> part(const std::vector<T>& all, std::size_t first, std::size_t count) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

Course language_course(const std::filesystem::path& folder, const Safetensors& file) {
    const ModelConfig model = read_config_json(folder / "config.json");
    const std::vector<std::int64_t>& shape = file.at("tokens").shape;  // [N, B, T]
    const auto size = static_cast<std::size_t>(shape[1] * shape[2]);
    return {[=](const Scope& scope) { return language_loss(scope, model, shape[1], shape[2]); },
            [=, tokens = integers(file, "tokens"), targets = integers(file, "targets")](Program& program,
                                                                                        std::uint64_t number) {
                program.write("tokens", part(tokens, number * size, size));
                program.write("targets", part(targets, number * size, size));
            }};
}

Course image_course(const std::filesystem::path& folder, const Safetensors& file) {
    const ModelConfig model = read_config_json(folder / "config.json");
    const std::vector<std::int64_t>& shape = file.at("targets").shape;  // [N, B, classes]
    const auto rows = static_cast<std::size_t>(shape[1]), size = static_cast<std::size_t>(shape[1] * shape[2]);
    const auto pool = static_cast<std::size_t>(file.at("images").shape[0]);
    return {[=](const Scope& scope) { return image_loss(scope, model, shape[1]); },
            [=, images = file.read_f32("images"), targets = file.read_f32("targets")](Program& program,
                                                                                      std::uint64_t number) {
                const std::size_t count = images.size() / pool * rows;
                program.write("images", part(images, number * rows % pool * (images.size() / pool), count));
                program.write("targets", part(targets, number * size, size));
            }};
}

class DeviceTrajectory : public ::testing::TestWithParam<std::tuple<std::string, Format>> {};

TEST_P(DeviceTrajectory, EveryStepAndWhereItLeadsAreThoseOfFloat64) {
    const auto& [name, format] = GetParam();
    const std::filesystem::path folder = training / name;
    const json expected = read_json(folder / "steps.json");
    const Safetensors file = Safetensors::open(folder / "steps.safetensors"),
                      before = Safetensors::open(folder / "model.safetensors");
    const bool images = &read_family(folder / "config.json").task() == &image_task();
    const Course course = images ? image_course(folder, file) : language_course(folder, file);
    Trainer trainer(shared_device(), course.loss, course.loss, config_of(expected.at("options"), format));
    load_weights(folder / "model.safetensors", trainer.parameters().list(), trainer.state());

    // fp16 rounds 2^13 times as coarsely as fp32.
    const double coarser = format == Format::f16 ? 0x1p13 : 1;
    const auto allowed = [&](const char* of) {
        return coarser * tolerance(expected.at("rounding").at(of).get<double>());
    };
    const auto rate = schedule_of(expected.at("schedule"));
    std::int64_t it = 0;
    for (const json& step : expected.at("steps")) {
        EXPECT_NEAR(rate(it), step.at("lr").get<double>(), 0x1p-50 * step.at("lr").get<double>());
        const StepResult found = trainer.step(it, rate(it), course.feed);
        ASSERT_FALSE(found.skipped);
        const double loss = step.at("loss").get<double>(), norm = step.at("grad_norm").get<double>();
        EXPECT_NEAR(found.loss, loss, allowed("loss") * loss) << "step " << it;
        EXPECT_NEAR(found.grad_norm, norm, allowed("grad_norm") * norm) << "step " << it;
        ++it;
    }
    EXPECT_EQ(it, 10);

    double longest = 0;
    const auto way = [&](const std::string& of) { return distance(file.read_f32("after." + of), before.read_f32(of)); };
    for (const Parameter& p : trainer.parameters().list()) longest = std::max(longest, way(p.name));
    for (const Parameter& p : trainer.parameters().list())
        EXPECT_LE(distance(trainer.state().read(p.name), file.read_f32("after." + p.name)),
                  allowed("way") * std::max(way(p.name), 1e-4 * longest))
            << p.name;
}

std::string trajectory_id(const ::testing::TestParamInfo<std::tuple<std::string, Format>>& info) {
    std::string id = std::get<0>(info.param) + (std::get<1>(info.param) == Format::f16 ? "_f16" : "");
    std::replace(id.begin(), id.end(), '-', '_');
    return id;
}

INSTANTIATE_TEST_SUITE_P(Fp32, DeviceTrajectory,
                         ::testing::Combine(::testing::Values("gpt2-adamw", "gpt2-setadam", "gpt2-sgd", "vit-adamw",
                                                              "vit-setadam", "vit-sgd"),
                                            ::testing::Values(Format::f32)),
                         trajectory_id);
// With a scaled loss.
INSTANTIATE_TEST_SUITE_P(Fp16, DeviceTrajectory,
                         ::testing::Combine(::testing::Values("gpt2-adamw", "gpt2-sgd", "vit-sgd"),
                                            ::testing::Values(Format::f16)),
                         trajectory_id);

}  // namespace
}  // namespace vkf::test
