// Operations that the recipes choose, and their frequencies.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <set>

#include "models/images/augmentation/augment.h"
#include "models/images/augmentation/autoaugment.h"
#include "models/images/augmentation/randaugment.h"
#include "models/images/augmentation/timm_randaugment.h"
#include "models/images/drawing/draw.h"
#include "tests/images/chance.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::expect_even;
using test::expect_mean;
using test::expect_share;

bool has_two_directions(Operation operation) {
    switch (operation) {
        case Operation::posterize:
        case Operation::solarize:
        case Operation::invert:
        case Operation::autocontrast:
        case Operation::equalize:
        case Operation::rotate:
            return false;
        default:
            return true;
    }
}

TEST(HostImagePolicy, AutoAugmentChoosesEverySubPolicyPartAndSign) {
    constexpr int n = 200'000;
    std::array<int, 25> chosen = {};
    std::array<std::array<int, 2>, 25> applied = {}, upwards = {};
    Random random(7, "policy");
    for (int i = 0; i < n; ++i) {
        const AutoAugmentChoice choice = choose_autoaugment(random, 32, 24);
        ++chosen.at(choice.sub_policy);
        for (std::size_t part = 0; part < 2; ++part) {
            if (!choice.ops[part]) continue;
            const PolicyPart& wanted = cifar10_policy()[choice.sub_policy][part];
            const AugmentOp up = autoaugment_op(wanted.operation, wanted.level, 1, 32, 24);
            const AugmentOp down = autoaugment_op(wanted.operation, wanted.level, -1, 32, 24);
            const double amount = choice.ops[part]->amount;
            ASSERT_EQ(choice.ops[part]->operation, wanted.operation);
            ASSERT_TRUE(amount == up.amount || amount == down.amount);
            ++applied[choice.sub_policy][part];
            if (amount == up.amount) ++upwards[choice.sub_policy][part];
        }
    }
    for (std::size_t which = 0; which < 25; ++which) {
        SCOPED_TRACE(which);
        expect_share(chosen[which], n, 1.0 / 25, "sub-policy");
        for (std::size_t part = 0; part < 2; ++part) {
            const PolicyPart& wanted = cifar10_policy()[which][part];
            const int times = applied[which][part];
            expect_share(times, chosen[which], wanted.probability, name_of(wanted.operation));
            const bool both = has_two_directions(wanted.operation) && wanted.level > 0;
            expect_share(upwards[which][part], times, both ? 0.5 : 1.0, "sign");
        }
    }
}

TEST(HostImagePolicy, AutoAugmentsTwoPartsAndTheirSignsAreDrawnApart) {
    constexpr int n = 200'000;
    std::array<std::array<int, 4>, 25> applied = {};  // counts: neither, the first, the second, both
    std::array<int, 4> signs = {};                    // for the 22nd pair, whose two operations both have signs
    Random random(8, "policy");
    for (int i = 0; i < n; ++i) {
        const auto [which, ops] = choose_autoaugment(random, 32, 32);
        ++applied.at(which)[(ops[0] ? 1u : 0u) + (ops[1] ? 2u : 0u)];
        if (which == 21 && ops[0] && ops[1]) ++signs[(ops[0]->amount > 0 ? 1u : 0u) + (ops[1]->amount > 0 ? 2u : 0u)];
    }
    for (std::size_t which = 0; which < 25; ++which) {
        SCOPED_TRACE(which);
        const double p = cifar10_policy()[which][0].probability, q = cifar10_policy()[which][1].probability;
        const std::array wanted = {(1 - p) * (1 - q), p * (1 - q), (1 - p) * q, p * q};
        for (std::size_t k = 0; k < 4; ++k) expect_share(applied[which][k], n, wanted[k] / 25, "parts applied");
    }
    expect_even(signs, "signs of both parts");
}

TEST(HostImagePolicy, LevelsMeanWhatTheTableSays) {
    const auto amount = [](Operation operation, int level, int sign) {
        return autoaugment_op(operation, level, sign, 32, 24).amount;
    };
    for (int level = 0; level < 10; ++level) {
        const double share = level / 9.0;
        for (const int sign : {-1, 1}) {
            EXPECT_DOUBLE_EQ(amount(Operation::shear_y, level, sign), 0.3 * share * sign);
            EXPECT_DOUBLE_EQ(amount(Operation::translate_x, level, sign), 150.0 / 331 * share * 32 * sign);
            EXPECT_DOUBLE_EQ(amount(Operation::translate_y, level, sign), 150.0 / 331 * share * 24 * sign);
            EXPECT_DOUBLE_EQ(amount(Operation::rotate, level, sign), 30 * share);
            EXPECT_NEAR(amount(Operation::sharpness, level, sign), 1 + 0.9 * share * sign, 0x1p-52);
            EXPECT_DOUBLE_EQ(amount(Operation::solarize, level, sign), 256 - 256 * share);
            EXPECT_EQ(amount(Operation::posterize, level, sign), std::round(8 - 4 * share));
        }
    }
}

TEST(HostImagePolicy, RandAugmentChoosesAllSixteenAlike) {
    constexpr int n = 100'000;
    std::array<int, randaugment_operations> chosen = {}, upwards = {};
    double cutout_x = 0, cutout_y = 0;
    Random random(3, "policy");
    for (int i = 0; i < n; ++i) {
        const AugmentOp op = choose_randaugment(random, 14, 32, 24);
        const auto which = static_cast<std::size_t>(op.operation);
        const double amount = randaugment_amount(op.operation, 14);
        ASSERT_EQ(std::abs(op.amount), amount);
        ++chosen.at(which);
        if (op.amount == amount) ++upwards[which];
        if (op.operation != Operation::cutout) continue;
        ASSERT_TRUE(op.x > 1 && op.x <= 32 && op.y > 1 && op.y <= 24);
        cutout_x += op.x;
        cutout_y += op.y;
    }
    for (std::size_t which = 0; which < randaugment_operations; ++which) {
        const auto operation = static_cast<Operation>(which);
        SCOPED_TRACE(name_of(operation));
        const std::set<Operation> turning = {Operation::shear_x, Operation::shear_y, Operation::translate_x,
                                             Operation::translate_y, Operation::rotate};
        expect_share(chosen[which], n, 1.0 / 16, "operation");
        expect_share(upwards[which], chosen[which], turning.count(operation) ? 0.5 : 1.0, "sign");
    }
    const int cutouts = chosen[static_cast<std::size_t>(Operation::cutout)];
    expect_mean(cutout_x, cutouts, 33 / 2.0, 31 * 31 / 12.0, "cutout x");
    expect_mean(cutout_y, cutouts, 25 / 2.0, 23 * 23 / 12.0, "cutout y");
}

TEST(HostImagePolicy, RandAugmentDrawsWithReplacementAndForgetsWhatItDrew) {
    std::array<int, randaugment_operations* randaugment_operations> pairs = {};
    for (std::uint64_t place = 0; place < 100'000; ++place) {
        Random random = epoch_stream(3, "augment", 2, place);
        const auto first = static_cast<std::size_t>(choose_randaugment(random, 14, 32, 32).operation);
        const auto second = static_cast<std::size_t>(choose_randaugment(random, 14, 32, 32).operation);
        ++pairs.at(first * randaugment_operations + second);
    }
    expect_even(pairs, "two operations of one image");
}

/// timm 0.3.2's rand-m9-mstd0.5-inc1: an operation is applied with probability 1/2, and its magnitude is normal with
/// mean 9 and deviation 1/2, clipped at 10. Rotations are by 3 degrees times the magnitude.
TEST(HostImagePolicy, TimmsRandAugmentDrawsOperationsMagnitudesAndSigns) {
    constexpr int n = 300'000;
    const TimmRandAugment options = timm_randaugment_named("rand-m9-mstd0.5-inc1");
    std::array<int, operation_count> chosen = {}, upwards = {};
    int applied = 0, clipped = 0;
    double sum = 0, squares = 0;
    Random random(3, "policy");
    for (int i = 0; i < n; ++i) {
        const auto op = choose_timm_randaugment(random, options, 32, 24);
        if (!op) continue;
        ++applied;
        const auto which = static_cast<std::size_t>(op->operation);
        ++chosen.at(which);
        if (op->amount > 0) ++upwards[which];
        if (op->operation != Operation::rotate) continue;
        const double magnitude = std::abs(op->amount) / 3;
        ASSERT_TRUE(magnitude > 6 && magnitude <= 10);
        clipped += magnitude == 10;
        sum += magnitude;
        squares += (magnitude - 9) * (magnitude - 9);
    }
    expect_share(applied, n, 0.5, "applied");
    for (const Operation operation : timm_randaugment_operations) {
        SCOPED_TRACE(name_of(operation));
        expect_share(chosen[static_cast<std::size_t>(operation)], applied, 1.0 / 15, "operation");
    }
    for (const Operation operation :
         {Operation::rotate, Operation::shear_x, Operation::shear_y, Operation::translate_x, Operation::translate_y})
        expect_share(upwards[static_cast<std::size_t>(operation)], chosen[static_cast<std::size_t>(operation)], 0.5,
                     name_of(operation));

    double mean = 0, second = 0, fourth = 0;  // of the clipped magnitude less 9, by integration
    constexpr double step = 1e-3;
    for (double z = -8; z < 8; z += step) {
        const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) * step;
        const double past = std::min(0.5 * z, 1.0);
        mean += density * past;
        second += density * past * past;
        fourth += density * past * past * past * past;
    }
    const int rotations = chosen[static_cast<std::size_t>(Operation::rotate)];
    expect_share(clipped, rotations, std::erfc(std::numbers::sqrt2) / 2, "clipped");
    expect_mean(sum, rotations, 9 + mean, second - mean * mean, "magnitude");
    expect_mean(squares, rotations, second, fourth - second * second, "variance of the magnitude");
}

TEST(HostImagePolicy, TimmsRandAugmentDrawsWithReplacementAndSignsOfEnhancements) {
    std::array<int, 16 * 16> pairs = {};  // 15: not applied
    std::array<int, 2> signs = {};
    const auto place_of = [](const std::optional<AugmentOp>& op) {
        if (!op) return std::size_t{15};
        const auto found = std::ranges::find(timm_randaugment_operations, op->operation);
        return static_cast<std::size_t>(found - timm_randaugment_operations.begin());
    };
    constexpr int n = 200'000;
    for (std::uint64_t place = 0; place < n; ++place) {
        Random random = epoch_stream(3, "augment", 2, place);
        const auto first = choose_timm_randaugment(random, {.magnitude = 9, .increasing = true}, 32, 32);
        const auto second = choose_timm_randaugment(random, {.magnitude = 9, .increasing = true}, 32, 32);
        ++pairs.at(place_of(first) * 16 + place_of(second));
        if (first && first->operation == Operation::color) ++signs.at(first->amount > 1 ? 1 : 0);
    }
    for (std::size_t a = 0; a < 16; ++a)
        for (std::size_t b = 0; b < 16; ++b) {
            const auto share = [](std::size_t which) { return which == 15 ? 0.5 : 0.5 / 15; };
            expect_share(pairs[a * 16 + b], n, share(a) * share(b), "two operations of one image");
        }
    expect_even(signs, "signs of color");
}

TEST(HostImagePolicy, TimmsNotationIsReadOrRefused) {
    const auto expect_read = [](std::string_view words, const TimmRandAugment& wanted) {
        const TimmRandAugment found = timm_randaugment_named(words);
        EXPECT_EQ(found.magnitude, wanted.magnitude) << words;
        EXPECT_EQ(found.deviation, wanted.deviation) << words;
        EXPECT_EQ(found.operations, wanted.operations) << words;
        EXPECT_EQ(found.increasing, wanted.increasing) << words;
    };
    expect_read("rand", {10, 0, 2, false});
    expect_read("rand-m9-mstd0.5-inc1", {9, 0.5, 2, true});
    expect_read("rand-inc1-mstd0.5-n3-m0", {0, 0.5, 3, true});
    const auto expect_refused = [](std::string_view words, std::string_view part) {
        test::expect_holds(test::complaint([&] { timm_randaugment_named(words); }), part);
    };
    expect_refused("augmix-m3", "augmix is no known policy, wanted rand");
    expect_refused("original", "original is no known policy");
    expect_refused("", "is no known policy");
    expect_refused("rand-w0", "w0 is no known section");
    expect_refused("rand-p0.5", "p0.5 is no known section");
    expect_refused("rand-", " is no known section");
    expect_refused("rand-m11", "m11, wanted m and a number from 0 to 10");
    expect_refused("rand-m9.5", "m9.5, wanted m");
    expect_refused("rand-m", "m, wanted m and a number");
    expect_refused("rand-n0", "n0, wanted n and a number from 1 to");
    expect_refused("rand-mstd-1", "mstd, wanted mstd and a number");
    expect_refused("rand-inc0", "inc0, wanted inc and a number from 1 to 1");
    expect_refused("rand-m9-m8", "has m twice");
}

/// Neighbours in place and in epoch draw from separate streams.
TEST(HostImagePolicy, ImagesChooseApartFromTheirNeighbours) {
    std::array<int, 25 * 25> places = {}, epochs = {};
    const auto chosen = [](std::uint64_t epoch, std::uint64_t place) {
        Random random = epoch_stream(3, "augment", epoch, place);
        return choose_autoaugment(random, 32, 32).sub_policy;
    };
    for (std::uint64_t place = 0; place < 60'000; ++place) {
        const std::size_t here = chosen(1, place);
        ++places.at(here * 25 + chosen(1, place + 1));
        ++epochs.at(here * 25 + chosen(2, place));
    }
    expect_even(places, "sub-policies of neighbours");
    expect_even(epochs, "sub-policies of one place in two epochs");
}

/// Mean and variance of a value under a distribution.
struct Moments {
    double weight = 0, sum = 0, squares = 0;
    void add(double v) {
        weight += 1;
        sum += v;
        squares += v * v;
    }
    double mean() const { return sum / weight; }
    double variance() const { return squares / weight - mean() * mean(); }
};

/// Compares boxes with their distribution: `area` and `aspect` at x, uniform in 0 … 1.
void expect_erased(const Erasing& erasing, const std::function<double(double)>& share,
                   const std::function<double(double)>& ratio) {
    constexpr int width = 32, height = 24, grid = 1000, n = 400'000;
    // Distribution of the accepted boxes, by integration over area and aspect.
    Moments rows, columns, areas, aspects;
    int accepted = 0;
    for (int i = 0; i < grid; ++i) {
        for (int k = 0; k < grid; ++k) {
            const double area = share((i + 0.5) / grid) * width * height, aspect = ratio((k + 0.5) / grid);
            const double h = std::round(std::sqrt(area * aspect)), w = std::round(std::sqrt(area / aspect));
            if (h >= height || w >= width) continue;
            ++accepted;
            rows.add(h);
            columns.add(w);
            areas.add(h * w);
            aspects.add(h / w);
        }
    }
    ASSERT_LT(accepted, grid * grid);  // some rectangles are too long for the image

    Random random(11, "erasing");
    int erased = 0;
    Moments h, w, area, aspect;
    double top = 0, left = 0, top_variance = 0, left_variance = 0;
    for (int i = 0; i < n; ++i) {
        const auto box = choose_erasing(random, width, height, erasing);
        if (!box) continue;
        ++erased;
        ASSERT_TRUE(box->left >= 0 && box->top >= 0 && box->width > 0 && box->height > 0);
        ASSERT_TRUE(box->left + box->width <= width && box->top + box->height <= height);
        h.add(box->height);
        w.add(box->width);
        area.add(box->width * box->height);
        aspect.add(double(box->height) / box->width);
        const double room_y = height - box->height, room_x = width - box->width;
        top += box->top / room_y - 0.5;  // uniform on 0 … room: mean room/2, variance room(room + 2)/12
        left += box->left / room_x - 0.5;
        top_variance += (room_y + 2) / (12 * room_y);
        left_variance += (room_x + 2) / (12 * room_x);
    }
    expect_share(erased, n, erasing.probability, "erased");
    expect_mean(h.sum, erased, rows.mean(), rows.variance(), "height");
    expect_mean(w.sum, erased, columns.mean(), columns.variance(), "width");
    expect_mean(area.sum, erased, areas.mean(), areas.variance(), "area");
    expect_mean(aspect.sum, erased, aspects.mean(), aspects.variance(), "aspect");
    EXPECT_LE(std::abs(top), 5 * std::sqrt(top_variance));
    EXPECT_LE(std::abs(left), 5 * std::sqrt(left_variance));
}

TEST(HostImagePolicy, ErasedRectanglesHaveTheAreaAndAspectOfTheRecipe) {
    expect_erased(
        {}, [](double x) { return 0.02 + 0.38 * x; }, [](double x) { return 0.3 + (1 / 0.3 - 0.3) * x; });
}

// timm 0.3.2, timm/data/random_erasing.py: min_area 0.02, max_area 1/3, aspect ratios log-uniform in 0.3 … 1/0.3. A
// few boxes in a hundred are refused, so that ten attempts are as good as any number.
TEST(HostImagePolicy, ErasedRectanglesHaveTheAreaAndAspectOfTimm) {
    expect_erased(
        timm_erasing(0.4), [](double x) { return 0.02 + (1.0 / 3 - 0.02) * x; },
        [](double x) { return std::pow(0.3, 1 - 2 * x); });
}

TEST(HostImagePolicy, DrawsStayInTheirRange) {
    Random random(5, "draw");
    int negative = 0, third = 0;
    double sum = 0;
    constexpr int n = 10'000;
    for (int i = 0; i < n; ++i) {
        if (sign(random) < 0) ++negative;
        if (happens(random, 1.0 / 3)) ++third;
        const double v = between(random, -3, 5);
        ASSERT_TRUE(v >= -3 && v < 5);
        ASSERT_FALSE(happens(random, 0.0));
        ASSERT_TRUE(happens(random, 1.0));
        sum += v;
    }
    expect_share(negative, n, 0.5, "sign");
    expect_share(third, n, 1.0 / 3, "happens");
    expect_mean(sum, n, 1, 64 / 12.0, "between");
    EXPECT_THROW(epoch_stream(0, "draw", std::uint64_t{1} << 32, 0), InputError);
    EXPECT_THROW(epoch_stream(0, "draw", 0, std::uint64_t{1} << 32), InputError);
}

}  // namespace
}  // namespace vkf
