// Beams of a search reordered in a cache, rows of one tensor appended, and positions dropped.
// tests/program/state_test.cpp has the other ops of caches.
#include "ops/movement/kv_cache.h"

#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::checks {
namespace {

Operand exactly(Shape shape, std::vector<double> values) {
    return {.type = {DType::i32, std::move(shape)}, .differentiate = false, .values = std::move(values)};
}

/// A case of groups of `beams` sequences, of which group g holds lengths[g] rows. Parents are drawn, so that most
/// groups have one twice. The op overwrites a copy of its operand, so that a second run begins with the same numbers.
OpCase beams_of(std::string name, std::int64_t beams, std::int64_t capacity, std::int64_t width,
                std::vector<double> lengths, std::vector<double> parents = {}) {
    const std::int64_t groups = std::ssize(lengths), rows = groups * beams;
    return {.name = std::move(name),
            .operands = {fixed({rows, capacity, width}),
                         parents.empty() ? integers({rows}, 0, beams) : exactly({rows}, std::move(parents)),
                         exactly({groups}, std::move(lengths))},
            .build = [=](Inputs x) { return std::vector{kv_cache_reorder(scale(x[0], 1.0f), x[1], x[2], beams)}; },
            .ulps = 0};
}

}  // namespace

std::vector<OpCase> kv_cache_reorder_cases() {
    return {
        beams_of("one beam", 1, 3, 4, {2, 3}),
        beams_of("two beams", 2, 5, 6, {4}, {1, 0}),
        beams_of("two beams from one", 2, 5, 6, {4, 5}, {1, 1, 0, 0}),
        beams_of("five beams", 5, 7, 8, {7, 3, 0, 1}),
        beams_of("five beams and odd rows", 5, 7, 9, {2, 7, 4}),
        beams_of("sixteen beams", 16, 3, 10, {3, 2}),
        beams_of("sixteen beams of one number", 16, 3, 1, {2, 3}),
        beams_of("a cycle", 4, 3, 5, {3}, {1, 2, 3, 0}),
        beams_of("a group that stays", 3, 4, 12, {4, 4, 4}, {2, 0, 1, 0, 1, 2, 0, 0, 2}),
        beams_of("long rows and many positions", 4, 70, 600, {70, 33}),
        beams_of("many short rows", 2, 300, 2, {299, 1, 300}),
        beams_of("parents that are none", 3, 4, 6, {3, 3}, {-1, 1, 3, 9, -9, 1}),
        beams_of("lengths outside the cache", 2, 4, 6, {9, -1}, {1, 0, 1, 0}),
    };
}

namespace {

/// Rows appended to one cache, which is a copy of an operand.
OpCase appended(std::string name, Shape cache, Shape rows, std::vector<double> lengths, std::int64_t behind = 0) {
    const std::int64_t count = std::ssize(lengths);
    return {.name = std::move(name),
            .operands = {fixed(std::move(cache)), fixed(std::move(rows)), exactly({count}, std::move(lengths))},
            .build = [=](Inputs x) { return std::vector{kv_cache_append(scale(x[0], 1.0f), x[1], x[2], behind)}; },
            .ulps = 0};
}

}  // namespace

std::vector<OpCase> kv_cache_append_cases() {
    return {
        appended("one row of each", {3, 5, 6}, {3, 1, 6}, {1, 5, 3}),
        appended("rows of one length", {2, 4, 7}, {2, 2, 7}, {3}),
        appended("rows outside of the cache", {4, 1, 8}, {4, 1, 8}, {1, 2, 0, 1}),
        appended("a first row of five", {3, 1, 6}, {3, 1, 6}, {5, 6, 0}, 4),
        appended("rows behind", {2, 4, 5}, {2, 2, 5}, {6, 3}, 2),
    };
}

namespace {

/// Keys and values of sequences that get `fresh` positions, in copies of operands.
OpCase rolled(std::string name, Shape keys, std::int64_t value_width, std::vector<double> lengths, CacheRoll roll,
              std::int64_t fresh) {
    const Shape values{keys[0], keys[1], value_width};
    return {.name = std::move(name),
            .operands = {fixed(std::move(keys)), fixed(values), exactly({std::ssize(lengths)}, lengths)},
            .build =
                [=](Inputs x) {
                    const RolledCache made = kv_cache_roll({scale(x[0], 1.0f), scale(x[1], 1.0f)}, x[2], roll, fresh);
                    return std::vector{made.cache.keys, made.cache.values, made.lengths};
                },
            .ulps = 0};
}

}  // namespace

std::vector<OpCase> kv_cache_roll_cases() {
    return {
        rolled("before and after the rows run out", {5, 6, 4}, 4, {6, 7, 8, 9, 10}, {.step = 3}, 1),
        rolled("first positions stay", {4, 9, 5}, 7, {10, 13, 14, 50}, {.first = 3, .step = 4}, 1),
        rolled("several fresh positions", {5, 9, 3}, 6, {9, 10, 12, 13, 30}, {.first = 1, .step = 4}, 3),
        rolled("more fresh positions than a step", {3, 9, 6}, 2, {5, 12, 21}, {.step = 2}, 5),
        rolled("rows that are not in use", {3, 5, 4}, 4, {0, 1, 6}, {.step = 2}, 2),
        rolled("wide rows", {2, 12, 130}, 70, {13, 14}, {.first = 2, .step = 5}, 1),
        rolled("many rows", {2, 300, 2}, 3, {301, 557}, {.first = 4, .step = 128}, 1),
    };
}

}  // namespace vkf::checks
