#include "apps/bench/bench_cases.h"

#include <array>
#include <regex>

#include "ops/attention/attention.h"
#include "ops/backward.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"

namespace vkf {

std::vector<Case> kernel_cases(CaseSizes sizes) {
    Cases list;
    if (sizes == CaseSizes::large) {
        add_large(list);
        return list;
    }
    add_products(list);
    add_attention(list);
    add_rows(list);
    add_elements(list);
    add_optimizers(list);
    return list;
}

std::regex only_expression(const std::string& pattern) {
    try {
        return std::regex(pattern, std::regex::extended | std::regex::icase | std::regex::nosubs);
    } catch (const std::regex_error&) {
        throw InputError("--only is '", pattern, "', which is no regular expression");
    }
}

std::vector<Case> chosen_cases(const std::string& pattern, CaseSizes sizes) {
    std::vector<Case> list = kernel_cases(sizes);
    const std::regex wanted = only_expression(pattern);
    std::erase_if(list, [&](const Case& c) {
        return !std::regex_search(text(c.family, ' ', c.name, ' ', c.shape, ' ', c.layout), wanted);
    });
    require(!list.empty(), "--only is '", pattern, "', which no kernel's family, name, shape and layout match");
    return list;
}

void add_with_gradient(Cases& list, const Function& f, Drawn drawn) {
    list.push_back({f.family, f.name + " forward", f.shape, "", [f](Operands& operands) -> Repetition {
                        return [apply = f.apply, in = f.operands(operands)] { return std::vector{apply(in)}; };
                    }});
    list.push_back({f.family, f.name + " backward", f.shape, "", [f, drawn](Operands& operands) -> Repetition {
                        std::vector<Tensor> in = f.operands(operands);
                        const Tensor y = f.apply(in);
                        const Tensor d_y = (operands.*drawn)(y.shape());
                        std::erase_if(in, [](Tensor x) { return x.dtype() != DType::f32; });
                        return [y, d_y, in] { return gradients(std::span(&y, 1), std::span(&d_y, 1), in); };
                    }});
}

// --- Products ------------------------------------------------------------------------------------

Case product(std::string name, std::int64_t m, std::int64_t n, std::int64_t k, const char* layout, Drawn drawn) {
    const bool transpose_a = layout[0] == 'T', transpose_b = layout[1] == 'T';
    return {"matmul", std::move(name), text(m, 'x', n, 'x', k), layout, [=](Operands& operands) -> Repetition {
                const Tensor a = (operands.*drawn)(transpose_a ? Shape{k, m} : Shape{m, k});
                const Tensor b = (operands.*drawn)(transpose_b ? Shape{n, k} : Shape{k, n});
                return
                    [=] { return std::vector{matmul(a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b})}; };
            }};
}

void add_linear(Cases& list, const std::string& name, std::int64_t rows, std::int64_t in, std::int64_t out,
                bool in_by_out, Drawn drawn) {
    list.push_back(product(name + " forward", rows, out, in, in_by_out ? "NN" : "NT", drawn));
    list.push_back(product(name + " d_x", rows, in, out, in_by_out ? "NT" : "NN", drawn));
    list.push_back(in_by_out ? product(name + " d_weight", in, out, rows, "TN", drawn)
                             : product(name + " d_weight", out, in, rows, "TN", drawn));
}

void add_products(Cases& list) {
    for (const char* layout : {"NN", "NT", "TN"}) list.push_back(product("square", 768, 768, 768, layout));
    add_linear(list, "small GPT c_attn", 768, 128, 384, true);
    add_linear(list, "small GPT c_proj", 768, 128, 128, true);
    add_linear(list, "small GPT c_fc", 768, 128, 512, true);
    add_linear(list, "small GPT mlp.c_proj", 768, 512, 128, true);
    add_linear(list, "small GPT head", 768, 128, 65, false);
    add_linear(list, "ViT qkv", 8320, 192, 576, false);
    add_linear(list, "ViT proj", 8320, 192, 192, false);
    add_linear(list, "ViT fc1", 8320, 192, 384, false);
    add_linear(list, "ViT fc2", 8320, 384, 192, false);
    add_linear(list, "GPT-2 c_attn", 1024, 768, 2304, true);
    add_linear(list, "GPT-2 c_fc", 1024, 768, 3072, true);
    add_linear(list, "GPT-2 head", 1024, 768, 50257, false);
    list.push_back(product("GPT-2 c_attn, one token", 1, 2304, 768, "NN"));
    list.push_back(product("GPT-2 head, one token", 1, 50257, 768, "NT"));
}

// --- Attention -----------------------------------------------------------------------------------

void add_self_attention(Cases& list, const std::string& name, std::int64_t batch, std::int64_t length,
                        std::int64_t heads, std::int64_t width, const AttentionMask& mask, Drawn drawn) {
    const std::int64_t channels = heads * width;
    const auto part = [](const char* what, std::int64_t number) { return number > 0 ? text(what, number) : ""; };
    const std::string pattern =
        text(mask.block > 1 ? text(", blocks of ", mask.block) : "",
             mask.window_left ? text(", window ", *mask.window_left) : "",
             part(", global ", mask.global_first + mask.global_last), part(", random ", mask.random_blocks));
    add_with_gradient(
        list,
        {"attention", name,
         text(batch, 'x', length, ", ", heads, " heads of ", width, mask.causal ? ", causal" : "", pattern),
         [=](Operands& operands) {
             return split((operands.*drawn)({batch, length, 3 * channels}), std::array{channels, channels, channels});
         },
         [=](std::span<const Tensor> in) { return attention(in[0], in[1], in[2], {.heads = heads, .mask = mask}); }},
        drawn);
}

void add_attention(Cases& list) {
    add_self_attention(list, "small GPT", 12, 64, 4, 32, {.causal = true});
    add_self_attention(list, "ViT", 128, 65, 12, 16, {});
    add_self_attention(list, "GPT-2", 1, 1024, 12, 64, {.causal = true});
    add_self_attention(list, "long", 1, 16384, 1, 64, {.causal = true});
    add_self_attention(list, "long", 1, 16384, 1, 64, {.causal = true, .window_left = 255});
    add_self_attention(list, "Longformer", 1, 16384, 1, 64,
                       {.window_left = 128, .window_right = 128, .global_first = 16});
    list.push_back(
        {"attention", "GPT-2, one token", "1x1 of 1024, 12 heads of 64", "", [](Operands& operands) -> Repetition {
             const Tensor q = operands.numbers({1, 1, 768});
             const Tensor k = operands.numbers({1, 1024, 768}), v = operands.numbers({1, 1024, 768});
             return [=] { return std::vector{attention(q, k, v, {.heads = 12, .mask = {.causal = true}})}; };
         }});
}

}  // namespace vkf
