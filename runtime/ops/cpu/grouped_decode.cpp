#include "ops/cpu/grouped_decode.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace vkf {

namespace {

constexpr std::size_t most_unrolled = 3;  // products for which the kernel's arguments have room

bool absent(const ArgValue& value) {
    return std::holds_alternative<std::monostate>(value);
}

std::int64_t divided(std::int64_t count, std::int64_t by) {
    return (count + by - 1) / by;
}

std::int64_t stripe_of(const KernelConfig& config) {
    const auto of =
        std::ranges::find(config.constants, std::string("STRIPE"), &std::pair<std::string, ConstantValue>::first);
    return std::get<std::uint32_t>(of->second);
}

/// Launches at most most_unrolled products.
void launch_unrolled(Lowering& lowering, std::span<const GemmCall> calls, const KernelConfig& config) {
    const GemmCall& any = calls.front();
    const std::int64_t stripe = stripe_of(config);
    Args args{{"a", any.a}, {"b_pitch", checked_u32(any.b_at.pitch)}, {"a_pitch", checked_u32(any.a_at.pitch)}};
    std::int64_t groups = 0, columns = 0;
    for (std::size_t i = 0; i < most_unrolled; ++i) {
        const GemmCall* call = i < calls.size() ? &calls[i] : nullptr;
        const auto name = [&](const char* prefix) { return std::string(prefix) + std::to_string(i); };
        args.emplace_back(name("b_"), call ? call->b : ArgValue{});
        args.emplace_back(name("bias_"), call ? call->bias : ArgValue{});
        args.emplace_back(name("y_"), call ? call->y : ArgValue{});
        args.emplace_back(name("n_"), checked_u32(call ? call->shape.n : stripe));
        if (i > 0) args.emplace_back(name("first_"), checked_u32(groups));
        if (call) groups += divided(call->shape.n, stripe), columns += call->shape.n;
    }
    const auto rows = static_cast<double>(any.shape.m), k = static_cast<double>(any.shape.k);
    const auto width = static_cast<double>(columns);
    Dispatch made{.kernel = "matmul_decode_unrolled_grouped",
                  .constants = config.constants,
                  .args = std::move(args),
                  .groups = static_cast<std::uint64_t>(groups),
                  .flops = 2.0 * rows * k * width,
                  .bytes = 4.0 * (k * (rows + width) + rows * width)};
    made.constants.emplace_back("BIAS", !absent(any.bias));
    lowering.dispatch(std::move(made));
}

void launch(Lowering& lowering, const std::vector<GemmCall>& calls, const KernelConfig& config) {
    const GemmCall& any = calls.front();
    const std::int64_t stripe = stripe_of(config);
    std::vector<Tensor> b, bias, y;
    std::vector<std::uint32_t> pitch, columns, begin;
    std::int64_t stripes = 0;
    double elements = 0;
    for (const GemmCall& call : calls) {
        b.push_back(std::get<Tensor>(call.b));
        bias.push_back(absent(call.bias) ? Tensor() : std::get<Tensor>(call.bias));
        y.push_back(std::get<Tensor>(call.y));
        pitch.push_back(checked_u32(call.b_at.pitch));
        columns.push_back(checked_u32(call.shape.n));
        begin.push_back(checked_u32(stripes));
        stripes += divided(call.shape.n, stripe);
        elements += static_cast<double>(call.shape.n);
    }
    const auto rows = static_cast<double>(any.shape.m), k = static_cast<double>(any.shape.k);
    Dispatch made{
        .kernel = "matmul_decode_grouped",
        .constants = config.constants,
        .args = {{"a", any.a},
                 {"products",
                  Table{{{"b", b}, {"bias", bias}, {"y", y}, {"b_pitch", pitch}, {"n", columns}, {"first", begin}}}},
                 {"count", checked_u32(std::ssize(calls))},
                 {"stripes", checked_u32(stripes)},
                 {"k", checked_u32(any.shape.k)},
                 {"a_pitch", checked_u32(any.a_at.pitch)}},
        .groups = static_cast<std::uint64_t>(stripes),
        .flops = 2.0 * rows * k * elements,
        .bytes = 4.0 * (k * (rows + elements) + rows * elements)};
    made.constants.emplace_back("LAYOUT_A", any.layout_a);
    made.constants.emplace_back("LAYOUT_B", any.layout_b);
    made.constants.emplace_back("BIAS", !absent(any.bias));
    lowering.dispatch(std::move(made));
}

}  // namespace

void append_grouped_decode(Lowering& lowering, const std::vector<GemmCall>& calls, const KernelConfig& config) {
    if (config.kernel != "matmul_decode_unrolled") return launch(lowering, calls, config);
    for (std::span rest(calls); !rest.empty(); rest = rest.subspan(std::min(most_unrolled, rest.size())))
        launch_unrolled(lowering, rest.first(std::min(most_unrolled, rest.size())), config);
}

}  // namespace vkf
