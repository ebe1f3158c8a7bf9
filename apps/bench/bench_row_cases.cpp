// Cases other than products and attention: mostly bound by memory.

#include <array>
#include <cmath>
#include <memory>

#include "apps/bench/bench_cases.h"
#include "apps/bench/bench_models.h"
#include "models/scope.h"
#include "models/train/optimizer.h"
#include "ops/attention/discrepancy.h"
#include "ops/attention/project_out.h"
#include "ops/attention/rope.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/dropout.h"
#include "ops/elementwise/glu.h"
#include "ops/loss/cross_entropy.h"
#include "ops/movement/embedding.h"
#include "ops/movement/view.h"
#include "ops/optimizer/optimizers.h"
#include "ops/rows/norm.h"
#include "ops/rows/reduce.h"
#include "ops/rows/softmax.h"

namespace vkf {

namespace {

/// Makes operands that are all random numbers.
std::function<std::vector<Tensor>(Operands&)> numbers(std::vector<Shape> shapes) {
    return [shapes = std::move(shapes)](Operands& operands) {
        std::vector<Tensor> made;
        for (const Shape& shape : shapes) made.push_back(operands.numbers(shape));
        return made;
    };
}

void add_losses(Cases& list, std::int64_t rows, std::int64_t classes) {
    add_with_gradient(list,
                      {"loss", "cross_entropy", text(rows, 'x', classes),
                       [=](Operands& operands) {
                           return std::vector{operands.numbers({rows, classes}), operands.indices({rows}, classes)};
                       },
                       [](std::span<const Tensor> in) { return cross_entropy(in[0], in[1]); }});
}

/// Adds the operations of attention variants on a head's output o and its own value v.
void add_belief(Cases& list, std::int64_t rows, std::int64_t width, std::int64_t heads) {
    const auto both = numbers({{rows, width}, {rows, width}});
    const std::string shape = text(rows, 'x', width);
    add_with_gradient(list, {"projection", "project_out", shape, both,
                             [](std::span<const Tensor> in) { return project_out(in[0], in[1], 1); }});
    add_with_gradient(list, {"projection", "project_out by head", text(shape, ", ", heads, " heads"), both,
                             [=](std::span<const Tensor> in) { return project_out(in[0], in[1], heads); }});
    add_with_gradient(list, {"projection", "discrepancy", shape, both,
                             [](std::span<const Tensor> in) { return discrepancy(in[0], in[1], 0.5f, GammaOn::sum); }});
}

void add_rope(Cases& list, std::int64_t rows, std::int64_t width, std::int64_t heads) {
    add_with_gradient(
        list, {"rope", "rope", text(rows, 'x', width, ", ", heads, " heads"), numbers({{1, rows, width}}),
               [=](std::span<const Tensor> in) {
                   std::vector<double> frequencies;
                   const std::int64_t head = width / heads;
                   for (std::int64_t i = 0; i < head / 2; ++i)
                       frequencies.push_back(std::pow(1e4, -2.0 * static_cast<double>(i) / static_cast<double>(head)));
                   const Tensor table = rope_table(in[0].graph(), frequencies, rows);
                   return rope(in[0], table);
               }});
}

}  // namespace

void add_norms(Cases& list, std::int64_t rows, std::int64_t width) {
    const std::string shape = text(rows, 'x', width);
    add_with_gradient(list, {"norm", "layer_norm", shape, numbers({{rows, width}, {width}, {width}}),
                             [](std::span<const Tensor> in) { return layer_norm(in[0], in[1], in[2], 1e-5f); }});
    add_with_gradient(list, {"norm", "rms_norm", shape, numbers({{rows, width}, {width}}),
                             [](std::span<const Tensor> in) { return rms_norm(in[0], in[1], 1e-5f); }});
}

void add_embedding(Cases& list, std::int64_t tokens, std::int64_t vocabulary, std::int64_t width) {
    add_with_gradient(
        list, {"embedding", "embedding", text(tokens, " of ", vocabulary, 'x', width),
               [=](Operands& operands) {
                   return std::vector{operands.numbers({vocabulary, width}), operands.indices({tokens}, vocabulary)};
               },
               [](std::span<const Tensor> in) { return embedding(in[0], in[1]); }});
}

void add_activation(Cases& list, std::int64_t rows, std::int64_t width, const char* name, Activation kind) {
    add_with_gradient(list, {"elementwise", name, text(rows, 'x', width), numbers({{rows, width}}),
                             [=](std::span<const Tensor> in) { return activate(in[0], kind); }});
}

void add_rows(Cases& list) {
    add_norms(list, 768, 128);
    add_norms(list, 8320, 192);
    add_norms(list, 1024, 768);
    add_with_gradient(list, {"norm", "softmax", "1024x768", numbers({{1024, 768}}),
                             [](std::span<const Tensor> in) { return softmax(in[0]); }});
    add_losses(list, 768, 65);
    add_losses(list, 1024, 50257);
    add_embedding(list, 768, 65, 128);
    add_embedding(list, 1024, 50257, 768);
    add_belief(list, 768, 128, 4);
    add_belief(list, 8320, 192, 12);
    add_rope(list, 1024, 768, 12);
}

void add_elements(Cases& list) {
    add_activation(list, 768, 512, "gelu_tanh", Activation::gelu_tanh);
    add_activation(list, 8320, 384, "gelu", Activation::gelu);
    add_activation(list, 1024, 3072, "gelu_tanh", Activation::gelu_tanh);
    const auto one = [&](const char* name, std::string shape, const std::vector<Shape>& shapes, auto apply) {
        list.push_back({"elementwise", name, std::move(shape), "", [=](Operands& operands) -> Repetition {
                            return [apply, in = numbers(shapes)(operands)] { return std::vector{apply(in)}; };
                        }});
    };
    add_with_gradient(list, {"elementwise", "swiglu", "1024x3072", numbers({{1024, 3072}, {1024, 3072}}),
                             [](std::span<const Tensor> in) { return glu(in[0], in[1], Activation::silu); }});
    using In = const std::vector<Tensor>&;
    one("add", "8320x192", {{8320, 192}, {8320, 192}}, [](In in) { return add(in[0], in[1]); });
    one("column_sum", "8320x576", {{8320, 576}}, [](In in) { return column_sum(in[0]); });
    one("concat", "3 of 8320x192", {{8320, 192}, {8320, 192}, {8320, 192}}, [](In in) { return concat(in); });
    one("permute", "128x65x12x16", {{128, 65, 12, 16}}, [](In in) { return permute(in[0], std::array{0, 2, 1, 3}); });
    list.push_back({"elementwise", "dropout", "8320x192", "", [](Operands& operands) -> Repetition {
                        const Tensor x = operands.numbers({8320, 192}), seed = operands.indices({2}, 1 << 30);
                        return [=] { return std::vector{dropout(x, 0.1f, seed, 1)}; };
                    }});
}

void add_optimizers(Cases& list) {
    for (const BenchModel& model : bench_models())
        for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::setadam, OptimizerKind::sgd}) {
            const auto parameters = std::make_shared<Parameters>(model.parameters());
            list.push_back({"optimizer", text(model.title, ' ', name_of(kind)),
                            text(count_text(static_cast<double>(parameters->count())), " in ",
                                 parameters->list().size(), " tensors"),
                            "", [=](Operands& operands) -> Repetition {
                                std::vector<Tensor> d;
                                for (const Parameter& p : parameters->list()) d.push_back(operands.numbers(p.shape));
                                const std::array<float, 4> numbers = step_rates(1e-3, 0.9, 0.95, 10);
                                const Tensor rates = operands.values({numbers.begin(), numbers.end()});
                                return [=, graph = &operands.graph()] {
                                    std::vector<Parameter> current = parameters->list();
                                    for (Parameter& p : current) p.tensor = graph->state(p.name, {DType::f32, p.shape});
                                    return std::vector{append_update(current, d, rates, {.kind = kind}).norm};
                                };
                            }});
        }
}

}  // namespace vkf
