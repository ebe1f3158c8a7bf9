#include "ops/rows/norm.h"

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::checks {
namespace {

constexpr float usual_eps = 1e-5f;

OpCase layer_norm_of(std::string name, std::int64_t rows, std::int64_t width) {
    // A few elements can be nearly equal; a larger eps keeps 1/sqrt(var) from amplifying their rounding.
    const float eps = width < 8 ? 0.5f : usual_eps;
    return {.name = std::move(name),
            .operands = {normal({rows, width}), normal({width}, 0.3, 1.0), normal({width})},
            .build = [eps](Inputs x) { return std::vector{layer_norm(x[0], x[1], x[2], eps)}; },
            .finite_differences = rows * width <= 4096};
}

OpCase rms_norm_of(std::string name, std::int64_t rows, std::int64_t width) {
    const float eps = width < 8 ? 0.5f : usual_eps;
    return {.name = std::move(name),
            .operands = {normal({rows, width}), normal({width}, 0.3, 1.0)},
            .build = [eps](Inputs x) { return std::vector{rms_norm(x[0], x[1], eps)}; },
            .finite_differences = rows * width <= 4096};
}

}  // namespace

std::vector<OpCase> norm_cases() {
    std::vector<OpCase> cases;
    for (const std::int64_t width : {1, 2, 3, 8, 15, 16, 17, 100, 128, 384, 768, 2003, 4100}) {
        cases.push_back(layer_norm_of(text("layer norm of ", width), 5, width));
        cases.push_back(rms_norm_of(text("RMS norm of ", width), 5, width));
    }
    cases.push_back(layer_norm_of("one row", 1, 33));
    cases.push_back(layer_norm_of("many narrow rows", 4099, 9));
    cases.push_back(layer_norm_of("many rows", 769, 128));
    cases.push_back(rms_norm_of("many rows without a mean", 1031, 33));
    cases.push_back(layer_norm_of("many wide rows", 67, 2100));
    for (const std::int64_t width : {17, 128, 2003, 4100})  // the kernel adds the residual's gradient
        cases.push_back({.name = text("residual of ", width),
                         .operands = {normal({5, width}), normal({width})},
                         .build =
                             [](Inputs x) {
                                 return std::vector{add(x[0], layer_norm(x[0], x[1], {}, usual_eps)),
                                                    add(x[0], rms_norm(x[0], x[1], usual_eps))};
                             },
                         .rounded_terms = true});
    cases.push_back({"no parameters", {normal({5, 19})}, [](Inputs x) {
                         return std::vector{layer_norm(x[0], {}, {}, usual_eps), rms_norm(x[0], {}, usual_eps)};
                     }});
    cases.push_back({"weight only", {normal({5, 19}), normal({19})}, [](Inputs x) {
                         return std::vector{layer_norm(x[0], x[1], {}, usual_eps)};
                     }});
    cases.push_back({"bias only", {normal({5, 19}), normal({19})}, [](Inputs x) {
                         return std::vector{layer_norm(x[0], {}, x[1], usual_eps)};
                     }});
    cases.push_back({"frozen parameters", {normal({5, 19}), fixed({19}), fixed({19})}, [](Inputs x) {
                         return std::vector{layer_norm(x[0], x[1], x[2], usual_eps)};
                     }});
    cases.push_back({"frozen input", {fixed({2, 3, 19}), normal({19}), normal({19})}, [](Inputs x) {
                         return std::vector{layer_norm(x[0], x[1], x[2], usual_eps)};
                     }});
    cases.push_back({"slices", {padded({7, 21}, 3), normal({21})}, [](Inputs x) {
                         return std::vector{rms_norm(x[0], x[1], usual_eps), layer_norm(x[0], x[1], x[1], usual_eps)};
                     }});
    cases.push_back({"in the memory of its input", {normal({9, 70}), normal({70})}, [](Inputs x) {
                         return std::vector{layer_norm(scale(x[0], 3.0f), x[1], {}, usual_eps)};
                     }});
    // The saved mean is rounded to 2^-24 · 1000, which is the error of x − mean in the derivative.
    cases.push_back({.name = "far from zero",
                     .operands = {normal({6, 129}, 1.0, 1000.0), normal({129}), normal({129})},
                     .build = [](Inputs x) { return std::vector{layer_norm(x[0], x[1], x[2], usual_eps)}; },
                     .gradient_ulps = 2000,
                     .finite_differences = false});
    // Constant rows: var = 0, so gradients may be off by rstd = 1/sqrt(eps) = 316 times the rounding of the mean,
    // 2^-24 · 7.
    cases.push_back({.name = "all equal",
                     .operands = {normal({6, 37}, 0.0, 7.1), normal({37}), normal({37})},
                     .build = [](Inputs x) { return std::vector{layer_norm(x[0], x[1], x[2], usual_eps)}; },
                     .gradient_ulps = 64 + 7 * 316,
                     .finite_differences = false});
    return cases;
}

}  // namespace vkf::checks
