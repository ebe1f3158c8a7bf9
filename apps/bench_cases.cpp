#include "apps/bench_cases.h"

#include "ops/ops.h"

namespace vkf {

namespace {

// --- Products ------------------------------------------------------------------------------------

/// y [m, n] = op(a) · op(b), summed over k; `layout` says which operand is transposed.
Case product(std::string name, std::int64_t m, std::int64_t n, std::int64_t k, const char* layout) {
    const bool transpose_a = layout[0] == 'T', transpose_b = layout[1] == 'T';
    return {"matmul", std::move(name), text(m, 'x', n, 'x', k), layout, [=](Operands& operands) -> Repetition {
                const Tensor a = operands.numbers(transpose_a ? Shape{k, m} : Shape{m, k});
                const Tensor b = operands.numbers(transpose_b ? Shape{n, k} : Shape{k, n});
                return
                    [=] { return std::vector{matmul(a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b})}; };
            }};
}

/// A linear map of `rows` tokens with both of its gradients. GPT-2 keeps weights as [in, out], vision transformers as
/// [out, in].
void linear(std::vector<Case>& list, const std::string& name, std::int64_t rows, std::int64_t in, std::int64_t out,
            bool in_by_out) {
    list.push_back(product(name + " forward", rows, out, in, in_by_out ? "NN" : "NT"));
    list.push_back(product(name + " d_x", rows, in, out, in_by_out ? "NT" : "NN"));
    list.push_back(in_by_out ? product(name + " d_weight", in, out, rows, "TN")
                             : product(name + " d_weight", out, in, rows, "TN"));
}

void products(std::vector<Case>& list) {
    for (const char* layout : {"NN", "NT", "TN"}) list.push_back(product("square", 768, 768, 768, layout));
    linear(list, "small GPT c_attn", 768, 128, 384, true);
    linear(list, "small GPT c_proj", 768, 128, 128, true);
    linear(list, "small GPT c_fc", 768, 128, 512, true);
    linear(list, "small GPT mlp.c_proj", 768, 512, 128, true);
    linear(list, "small GPT head", 768, 128, 65, false);
    linear(list, "ViT qkv", 8320, 192, 576, false);
    linear(list, "ViT proj", 8320, 192, 192, false);
    linear(list, "ViT fc1", 8320, 192, 384, false);
    linear(list, "ViT fc2", 8320, 384, 192, false);
    linear(list, "GPT-2 c_attn", 1024, 768, 2304, true);
    linear(list, "GPT-2 c_fc", 1024, 768, 3072, true);
    linear(list, "GPT-2 head", 1024, 768, 50257, false);
    list.push_back(product("GPT-2 c_attn, one token", 1, 2304, 768, "NN"));
    list.push_back(product("GPT-2 head, one token", 1, 50257, 768, "NT"));
}

}  // namespace

std::vector<Case> kernel_cases() {
    std::vector<Case> list;
    products(list);
    return list;
}

}  // namespace vkf
