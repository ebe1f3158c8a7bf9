// Predicted cost of reading a text.
#include <gtest/gtest.h>

#include "apps/inspect/analysis.h"
#include "models/families/llama.h"

namespace vkf::test {
namespace {

LlamaConfig small_llama(std::int64_t context) {
    return {.vocab_size = 50,
            .max_position_embeddings = context,
            .hidden_size = 24,
            .intermediate_size = 32,
            .num_hidden_layers = 3,
            .num_attention_heads = 4,
            .num_key_value_heads = 2};
}

double flops(std::int64_t context, std::int64_t length, std::int64_t positions) {
    return analyse_reading(small_llama(context), Format::f32, length, positions, {}).flops;
}

TEST(HostGenerationWork, CountsTheKeysThatAreThere) {
    const double pair = 3 * 4 * 2 * (6 + 6);  // a multiplication and an addition for each column of q and of v
    EXPECT_EQ(flops(8192, 16, 16), flops(16, 16, 16)) << "a text is not as long as its context";
    EXPECT_EQ(flops(8192, 16, 40) - flops(8192, 16, 16), 16 * 24 * pair) << "all see 24 more";
    EXPECT_EQ(flops(8192, 1, 257) - flops(8192, 1, 1), 256 * pair);
}

}  // namespace
}  // namespace vkf::test
