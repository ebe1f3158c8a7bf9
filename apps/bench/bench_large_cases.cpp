// Kernels at the sizes of batches that fill a GPU.

#include "apps/bench/bench_cases.h"

namespace vkf {

namespace {

/// Adds GPT-2's linear layers with activations, and with weights stored as in a 16-bit step.
void add_gpt2_layers(Cases& list, std::int64_t rows) {
    constexpr Drawn drawn = &Operands::activations;
    add_linear(list, "GPT-2 c_attn", rows, 768, 2304, true, drawn);
    add_linear(list, "GPT-2 c_proj", rows, 768, 768, true, drawn);
    add_linear(list, "GPT-2 c_fc", rows, 768, 3072, true, drawn);
    add_linear(list, "GPT-2 mlp.c_proj", rows, 3072, 768, true, drawn);
}

}  // namespace

void add_large(Cases& list) {
    constexpr Drawn drawn = &Operands::activations;
    for (const std::int64_t extent : {4096, 8192})
        for (const char* layout : {"NN", "NT", "TN"})
            list.push_back(product("square", extent, extent, extent, layout, drawn));
    add_gpt2_layers(list, 16 * 1024);
    add_gpt2_layers(list, 64 * 1024);
    add_linear(list, "GPT-2 head", 4 * 1024, 768, 50304, false, drawn);
    add_self_attention(list, "GPT-2", 16, 1024, 12, 64, {.causal = true}, drawn);
    add_self_attention(list, "ViT", 128, 65, 12, 16, {}, drawn);
    add_self_attention(list, "wide heads", 16, 1024, 6, 128, {.causal = true}, drawn);
    add_norms(list, 16 * 1024, 768);
    add_embedding(list, 16 * 1024, 50257, 768);
    add_activation(list, 16 * 1024, 3072, "gelu_tanh", Activation::gelu_tanh);
}

}  // namespace vkf
