#include "ops/movement/embedding.h"

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

std::vector<Tensor> look_up(Inputs x) {
    return {embedding(x[0], x[1])};
}

/// A table [vocabulary, width] and `rows` indices. An index's gradient is a sum with one row per occurrence.
OpCase table(std::string name, std::int64_t vocabulary, std::int64_t width, std::int64_t rows) {
    const double occurrences = static_cast<double>(rows) / static_cast<double>(vocabulary);
    return {.name = std::move(name),
            .operands = {normal({vocabulary, width}), integers({rows}, 0, vocabulary)},
            .build = look_up,
            .ulps = 0,
            .gradient_ulps = 64 + 2 * occurrences,
            .finite_differences = vocabulary * width <= 4096};
}

}  // namespace

std::vector<OpCase> embedding_cases() {
    std::vector<OpCase> cases;
    for (const std::int64_t width : {1, 2, 3, 8, 17, 64, 128, 300, 1031})
        cases.push_back(table(text("rows of ", width), 7, width, 20));
    cases.push_back(table("one row of the table", 1, 5, 9));
    cases.push_back(table("one index", 9, 5, 1));
    cases.push_back(table("characters", 65, 128, 768));
    cases.push_back(table("most words unused", 5003, 16, 101));
    cases.push_back(table("many positions", 301, 3, 4099));
    cases.push_back(table("frequent words", 3, 5, 4099));
    cases.push_back(table("as many rows as a chunk", 2, 40, 64));
    cases.push_back(table("more than 65536 words", 70001, 2, 2500));
    cases.push_back(
        {.name = "a batch", .operands = {normal({11, 6}), integers({3, 7}, 0, 11)}, .build = look_up, .ulps = 0});
    cases.push_back(
        {.name = "no axis", .operands = {normal({11, 6}), integers({}, 0, 11)}, .build = look_up, .ulps = 0});
    cases.push_back({.name = "outside the vocabulary",
                     .operands = {normal({5, 6}), integers({40}, -4, 9)},
                     .build = look_up,
                     .ulps = 0});
    cases.push_back({.name = "slice of a table",
                     .operands = {padded({5, 6}, 2), integers({12}, 0, 5)},
                     .build = look_up,
                     .ulps = 0});
    cases.push_back({.name = "all but the last of each sequence",
                     .operands = {normal({5, 6}), integers({3, 8}, 0, 5)},
                     .build = [](Inputs x) { return std::vector{embedding(x[0], slice(x[1], -1, 0, 7))}; },
                     .ulps = 0});
    cases.push_back({.name = "a table used twice",
                     .operands = {normal({5, 6}), integers({4}, 0, 5), integers({6}, 0, 5)},
                     .build =
                         [](Inputs x) {
                             return std::vector{embedding(x[0], x[1]), embedding(x[0], x[2])};
                         },
                     .ulps = 0});
    return cases;
}

}  // namespace vkf::checks
