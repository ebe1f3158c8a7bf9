// Attention's epilogues, which combine its result with the queries' own values before rounding.
#include "checks/attention/epilogue_case.h"

#include <array>
#include <vector>

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

constexpr std::array names{"discrepancy", "discrepancy on value", "rows", "heads", "both"};

}  // namespace

std::vector<Tensor> results(Epilogue epilogue, const AttentionInputs& in, const AttentionOptions& options) {
    switch (epilogue) {
        case Epilogue::discrepancy:
            return {attention_discrepancy(in, 3.0f, GammaOn::sum, options)};
        case Epilogue::discrepancy_on_value:
            return {attention_discrepancy(in, 0.5f, GammaOn::value, options)};
        case Epilogue::rows:
            return {attention_project_out_rows(in, options)};
        case Epilogue::heads:
            return {attention_project_out_heads(in, options)};
        case Epilogue::both:
            break;
    }
    const Projections both = attention_project_out_both(in, options);
    return {both.rows, both.heads};
}

OpCase with_epilogue(const MaskCase& c, Epilogue epilogue, std::int64_t padding) {
    OpCase made = op_case(c);
    made.name += text(", ", names.at(static_cast<std::size_t>(epilogue)));
    Operand own = normal({c.batch, c.queries, c.kv_heads * c.value_width}, 0.5, 1.0);
    own.padding = padding;
    made.operands.push_back(own);
    // In 16 bits attention's gradients use the stored values of o and d_o, which adds two roundings to delta.
    made.gradient_roundings = 2;
    made.build = [c, epilogue](Inputs x) { return results(epilogue, {x[0], x[1], x[2], x[6]}, options_of(c, x)); };
    return made;
}

/// Masks, with the epilogues in rotation. Masks and epilogues interact only through rows that see no key or do not
/// count, the separate kernel for few queries, and the width of values.
std::vector<OpCase> attention_epilogue_cases() {
    std::vector<OpCase> made;
    std::size_t next = 0;
    for (const MaskCase& c : mask_cases()) {
        // If every query sees one key, gradients of q and k are 0 except for rounding.
        if (c.nan_padding || c.nan_hidden || c.as_others || c.name == "own key only") continue;
        made.push_back(with_epilogue(c, epilogues.at(next++ % epilogues.size())));
    }
    const AttentionMask causal{.causal = true}, both{.causal = true, .diagonal = true};
    for (const Epilogue epilogue : epilogues) {
        made.push_back(with_epilogue({.name = "small gpt",
                                      .mask = causal,
                                      .batch = 2,
                                      .queries = 64,
                                      .keys = 64,
                                      .width = 32,
                                      .value_width = 32,
                                      .heads = 4,
                                      .kv_heads = 4},
                                     epilogue));
        made.push_back(with_epilogue({.name = "one query of a cache",
                                      .mask = causal,
                                      .batch = 2,
                                      .queries = 1,
                                      .keys = 19,
                                      .width = 8,
                                      .value_width = 8},
                                     epilogue));
        made.push_back(with_epilogue({.name = "few queries of a cache, shared heads",
                                      .mask = causal,
                                      .batch = 2,
                                      .queries = 2,
                                      .keys = 19,
                                      .width = 8,
                                      .value_width = 8,
                                      .heads = 9,
                                      .kv_heads = 3},
                                     epilogue, 6));
        made.push_back(with_epilogue({.name = "grouped, dropout, slices",
                                      .mask = both,
                                      .batch = 2,
                                      .queries = 17,
                                      .keys = 17,
                                      .width = 8,
                                      .value_width = 8,
                                      .heads = 6,
                                      .kv_heads = 2,
                                      .dropout = 0.3f},
                                     epilogue, 6));
        made.push_back(with_epilogue({.name = "odd slices of odd heads",
                                      .queries = 16,
                                      .keys = 31,
                                      .width = 7,
                                      .value_width = 7,
                                      .heads = 3,
                                      .kv_heads = 3},
                                     epilogue, 3));
        made.push_back(with_epilogue(
            {.name = "many heads", .queries = 5, .keys = 5, .width = 2, .value_width = 2, .heads = 19, .kv_heads = 19},
            epilogue));
        made.push_back(with_epilogue(
            {.name = "wide heads", .queries = 9, .keys = 11, .width = 4, .value_width = 130, .heads = 3, .kv_heads = 3},
            epilogue));
    }
    return made;
}

}  // namespace vkf::checks
