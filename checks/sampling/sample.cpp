#include "ops/sampling/sample.h"

#include "checks/op_tables.h"
#include "checks/sampling/sample_batch.h"

namespace vkf::checks {
namespace {

OpCase drawn(std::string name, std::int64_t rows, std::int64_t width, std::int64_t padding = 0) {
    const SampleBatch batch(rows, width, width);
    Operand logits = fixed({rows, width}), samplings = integers({rows, SampleRow::words}, 0, 1),
            seen = integers({rows, seen_words(width)}, 0, 1);
    logits.values.assign(batch.logits.begin(), batch.logits.end());
    logits.padding = padding;
    samplings.values.assign(batch.samplings.begin(), batch.samplings.end());
    seen.values.assign(batch.seen.begin(), batch.seen.end());
    return {std::move(name), {logits, samplings, seen}, [](Inputs x) {
                const auto [tokens, others] = sample(x[0], x[1], x[2]);
                return std::vector{tokens, others};
            }};
}

}  // namespace

/// Memory between and next to the rows is not read, and outputs are written completely. Tokens are compared exactly.
std::vector<OpCase> sample_cases() {
    return {drawn("one", 3, 1), drawn("odd rows", 12, 131), drawn("slices", 12, 64, 2), drawn("odd slices", 12, 33, 3),
            drawn("wide", 12, 5003)};
}

}  // namespace vkf::checks
