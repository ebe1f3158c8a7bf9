#include "ops/cpu/unrolled_matmul.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/integers.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

constexpr std::int64_t tile_rows = 5, vectors = 4;     // 20 sums in 32 registers: with 24 sums some are spilled
constexpr std::int64_t transposed_rows = 16;           // rows of a tile of transpose.comp, which also has `vectors`
constexpr std::int64_t longest = 256, shortest = 128;  // terms: most that compile in seconds, fewest worth a launch
constexpr std::int64_t most_groups = 1 << 18;          // transpose.comp and matmul_unrolled.comp know 18 bits

std::int64_t tile_columns(const DeviceTraits& device) {
    return vectors * device.subgroup_size;
}

/// Terms per launch: all, or equal shares, because each number of terms is a kernel of its own. Small products have at
/// most half as many: there longer code saves less time than each start spends on it.
std::int64_t terms_of(std::int64_t k, std::int64_t work) {
    constexpr std::int64_t large = 1 << 27;  // multiply-adds
    const std::int64_t most = work < large ? longest / 2 : longest;
    if (k <= most) return k;
    for (std::int64_t terms = most; 2 * terms >= most; --terms)
        if (k % terms == 0) return terms;
    return most;
}

/// Rows of yᵀ per block: all, or as many as take 4 MiB. The last block may have up to a tile more.
std::int64_t block_of(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t elements = 1 << 20;
    const std::int64_t blocks = ceil_div(rows * columns, elements);
    return ceil_div(ceil_div(rows, blocks), transposed_rows) * transposed_rows;
}

/// A matrix that a kernel reads or writes, or rows of one.
struct Matrix {
    ArgValue at;
    std::int64_t pitch;
};

/// y [m, n] = alpha · op(a) · b + bias + addend, with the rows of op(a) that begin at a_row.
struct Product {
    std::int64_t m, n, k;
    bool transpose_a;
    Matrix a, b, y, addend;
    ArgValue bias;
    std::int64_t a_row;
    float alpha;
};

void append(Lowering& lowering, const Product& product, const KernelConfig& config) {
    enum : std::uint32_t { adds_bias = 1, adds_addend = 2 };
    const auto given = [](const ArgValue& x) { return !std::holds_alternative<std::monostate>(x); };
    const std::int64_t down = ceil_div(product.m, tile_rows),
                       across = ceil_div(product.n, tile_columns(lowering.device));
    for (std::int64_t term = 0; term < product.k; term += config.chunk) {
        const std::int64_t terms = std::min(config.chunk, product.k - term);
        const Matrix& addend = term > 0 ? product.y : product.addend;
        const ArgValue bias = term > 0 ? ArgValue{} : product.bias;
        Dispatch made{.kernel = config.kernel,
                      .constants = config.constants,
                      .args = {{"a", product.a.at},
                               {"b", product.b.at},
                               {"bias", given(bias) ? bias : product.y.at},
                               {"addend", given(addend.at) ? addend.at : product.y.at},
                               {"y", product.y.at},
                               {"m", checked_u32(product.m)},
                               {"n", checked_u32(product.n)},
                               {"term", checked_u32(term)},
                               {"a_row", checked_u32(product.a_row)},
                               {"a_pitch", checked_u32(product.a.pitch)},
                               {"b_pitch", checked_u32(product.b.pitch)},
                               {"y_pitch", checked_u32(product.y.pitch)},
                               {"addend_pitch", checked_u32(given(addend.at) ? addend.pitch : product.y.pitch)},
                               {"adds", (given(bias) ? adds_bias : 0U) | (given(addend.at) ? adds_addend : 0U)},
                               {"tiles_down", 1.0f / static_cast<float>(down)},
                               {"alpha", product.alpha}},
                      .groups = static_cast<std::uint64_t>(down * across),
                      .flops = 2.0 * static_cast<double>(product.m * product.n) * static_cast<double>(terms),
                      .bytes = 4.0 * (static_cast<double>((product.m + product.n) * terms) +
                                      static_cast<double>(product.m * product.n))};
        made.constants.emplace_back("TRANSPOSE_A", product.transpose_a);
        made.constants.emplace_back("TERMS", static_cast<std::uint32_t>(terms));
        lowering.dispatch(std::move(made));
    }
}

/// Columns of y, from `first` on, are set to xᵀ + bias + addend; x is [rows, columns].
struct Transpose {
    std::int64_t rows, columns, first;
    Matrix x, y, addend;
    ArgValue bias;
    std::uint32_t layout_y, layout_addend;
};

void append(Lowering& lowering, const Transpose& transpose) {
    const std::int64_t down = ceil_div(transpose.rows, transposed_rows),
                       across = ceil_div(transpose.columns, tile_columns(lowering.device));
    const double area = static_cast<double>(transpose.rows) * static_cast<double>(transpose.columns);
    Dispatch made{.kernel = "transpose",
                  .constants = {{"GROUP", lowering.device.subgroup_size},
                                {"ROWS", static_cast<std::uint32_t>(transposed_rows)},
                                {"VECTORS", static_cast<std::uint32_t>(vectors)},
                                {"LAYOUT_Y", transpose.layout_y}},
                  .args = {{"x", transpose.x.at},
                           {"bias", transpose.bias},
                           {"addend", transpose.addend.at},
                           {"y", transpose.y.at},
                           {"rows", checked_u32(transpose.rows)},
                           {"columns", checked_u32(transpose.columns)},
                           {"x_pitch", checked_u32(transpose.x.pitch)},
                           {"y_pitch", checked_u32(transpose.y.pitch)},
                           {"addend_pitch", checked_u32(transpose.addend.pitch)},
                           {"first", checked_u32(transpose.first)},
                           {"tiles_down", 1.0f / static_cast<float>(down)}},
                  .groups = static_cast<std::uint64_t>(down * across),
                  .bytes = 8.0 * area};
    if (!std::holds_alternative<std::monostate>(transpose.bias)) made.constants.emplace_back("BIAS", true);
    if (!std::holds_alternative<std::monostate>(transpose.addend.at)) {
        made.constants.emplace_back("ADDEND", true);
        made.constants.emplace_back("LAYOUT_ADDEND", transpose.layout_addend);
    }
    lowering.dispatch(std::move(made));
}

/// Equivalent product whose right operand is not transposed; m and n are its own.
struct Formulation {
    std::int64_t m, n;
    std::int64_t transposed;  // numbers that are transposed on the way
    bool swapped = false;     // yᵀ = b · aᵀ for a transposed b, which transposes a and yᵀ; else b is transposed
};

/// True if the kernels suit the product: tiles are mostly whole, there is enough work to pay for longer code and
/// transposing, and workgroups have indices below most_groups.
bool suits(const DeviceTraits& device, const GemmShape& shape, const Formulation& formulation) {
    constexpr std::int64_t least_work = 1 << 23, least_launch = 1 << 22;  // multiply-adds
    constexpr std::int64_t least_each = 60;                               // multiply-adds per transposed number
    constexpr std::int64_t most_scratch = 1 << 22;                        // elements of bᵀ
    constexpr double most_padding = 1.3;                                  // computed elements per element of y
    const std::int64_t columns = tile_columns(device), k = shape.k, work = formulation.m * formulation.n * k;
    if (formulation.m < transposed_rows || formulation.n < columns || k < shortest) return false;
    if (work < least_work || formulation.m * formulation.n * terms_of(k, work) < least_launch) return false;
    if (work < least_each * formulation.transposed) return false;
    const std::int64_t down = ceil_div(formulation.m, tile_rows), across = ceil_div(formulation.n, columns);
    if (static_cast<double>(down * tile_rows * across * columns) >
        most_padding * static_cast<double>(formulation.m * formulation.n))
        return false;
    if (!shape.transpose_b) return down * across <= most_groups;
    const std::int64_t to_transpose = ceil_div(formulation.n, transposed_rows) * ceil_div(k, columns);  // a or b
    if (to_transpose > most_groups) return false;
    if (!formulation.swapped) return formulation.transposed <= most_scratch && down * across <= most_groups;
    const std::int64_t rows = std::min(formulation.m, block_of(formulation.m, formulation.n) + transposed_rows);
    return ceil_div(rows, tile_rows) * across <= most_groups && ceil_div(rows, transposed_rows) * across <= most_groups;
}

/// Suitable formulation that transposes fewest numbers; empty if none is suitable.
std::optional<Formulation> formulate(const DeviceTraits& device, const GemmShape& shape) {
    const auto [m, n, k] = std::array{shape.m, shape.n, shape.k};
    std::array list{Formulation{m, n, 0}, Formulation{n, m, m * (k + n), true}};
    if (shape.transpose_b) list[0].transposed = n * k;
    if (list[1].transposed < list[0].transposed) std::swap(list[0], list[1]);
    for (const Formulation& of : list)
        if ((shape.transpose_b || !of.swapped) && suits(device, shape, of)) return of;
    return std::nullopt;
}

}  // namespace

std::optional<KernelConfig> unrolled_config(const DeviceTraits& device, const GemmShape& shape) {
    if (!device.unrolled_products || device.subgroup_size != 16) return std::nullopt;
    if (shape.batches != 1 || shape.packed_factors || shape.packed_y || shape.row_scale) return std::nullopt;
    const std::optional<Formulation> of = formulate(device, shape);
    if (!of) return std::nullopt;
    KernelConfig made{"unrolled",
                      "matmul_unrolled",
                      {{"GROUP", device.subgroup_size},
                       {"ROWS", static_cast<std::uint32_t>(tile_rows)},
                       {"VECTORS", static_cast<std::uint32_t>(vectors)}}};
    made.tiles = ceil_div(of->m, tile_rows) * ceil_div(of->n, tile_columns(device));
    made.chunk = terms_of(shape.k, shape.m * shape.n * shape.k);
    return made;
}

void append_unrolled(Lowering& lowering, const GemmCall& call, const KernelConfig& config,
                     std::optional<Scratch>& scratch) {
    const GemmShape& shape = call.shape;
    const std::int64_t m = shape.m, n = shape.n, k = shape.k;
    const Matrix a{call.a, call.a_at.pitch}, b{call.b, call.b_at.pitch}, y{call.y, call.y_pitch};
    const Matrix addend{call.aux, call.aux_pitch};
    const auto transposed = [&](const Matrix& x, std::int64_t rows, const Scratch& into) {
        const Matrix made{Section{into, 0, k * rows}, rows};
        append(lowering, Transpose{rows, k, 0, x, made, {}, {}, vector_layout(rows % 2 == 0), 0});
        return made;
    };
    const bool swapped = formulate(lowering.device, shape).value().swapped;
    if (!swapped) {
        const Matrix right = shape.transpose_b ? transposed(b, n, lowering.shared_scratch(scratch, k * n)) : b;
        return append(lowering, Product{m, n, k, shape.transpose_a, a, right, y, addend, call.bias, 0, call.alpha},
                      config);
    }
    const std::int64_t block = block_of(n, m);
    const Scratch both = lowering.shared_scratch(scratch, m * (k + std::min(block + transposed_rows, n)));
    const Matrix a_transposed = transposed(a, m, both);
    for (std::int64_t first = 0, rows = 0; first < n; first += rows) {
        rows = n - first < block + transposed_rows ? n - first : block;  // so the last block has at least a whole tile
        const Matrix y_transposed{Section{both, k * m, rows * m}, m};
        append(lowering, Product{rows, m, k, false, b, a_transposed, y_transposed, {}, {}, first, call.alpha}, config);
        append(lowering, Transpose{rows, m, first, y_transposed, y, addend, call.bias, call.layout_y, call.layout_aux});
    }
}

}  // namespace vkf
