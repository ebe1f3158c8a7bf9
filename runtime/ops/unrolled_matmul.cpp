#include "ops/unrolled_matmul.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ops/vector_layout.h"

namespace vkf {

namespace {

constexpr std::int64_t tile_rows = 5, vectors = 4;     // 20 sums in 32 registers: of 24 some are spilled
constexpr std::int64_t transposed_rows = 16;           // of a tile of transpose.comp, which has as many vectors
constexpr std::int64_t longest = 256, shortest = 128;  // terms of a launch: what compiles in seconds, what is worth one
constexpr std::int64_t most_groups = 1 << 18;          // as many have digits

std::int64_t up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

std::int64_t tile_columns(const DeviceTraits& device) {
    return vectors * device.subgroup_size;
}

/// Terms of a launch: all, or equal shares, for each number of them is a kernel of its own. Of small products half as
/// many: what longer code saves is less than what each start spends on it.
std::int64_t terms_of(std::int64_t k, std::int64_t work) {
    constexpr std::int64_t large = 1 << 27;  // multiply-adds
    const std::int64_t most = work < large ? longest / 2 : longest;
    if (k <= most) return k;
    for (std::int64_t terms = most; 2 * terms >= most; --terms)
        if (k % terms == 0) return terms;
    return most;
}

/// Rows of yᵀ at a time: all, or as many as take 4 MiB. The last time there are up to a tile more.
std::int64_t block_of(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t elements = 1 << 20;
    const std::int64_t blocks = up(rows * columns, elements);
    return up(up(rows, blocks), transposed_rows) * transposed_rows;
}

/// A matrix, or the rows of one, that a kernel reads or writes.
struct Matrix {
    ArgValue at;
    std::int64_t pitch;
};

/// y [m, n] = alpha · op(a) · b + bias + addend, for rows of op(a) from a_row on.
struct Product {
    std::int64_t m, n, k;
    bool transpose_a;
    Matrix a, b, y, addend;
    ArgValue bias;
    std::int64_t a_row;
    float alpha;
};

void append(Lowering& to, const Product& of, const KernelConfig& config) {
    enum : std::uint32_t { adds_bias = 1, adds_addend = 2 };
    const auto given = [](const ArgValue& x) { return !std::holds_alternative<std::monostate>(x); };
    const std::int64_t down = up(of.m, tile_rows), across = up(of.n, tile_columns(to.device));
    for (std::int64_t term = 0; term < of.k; term += config.chunk) {
        const std::int64_t terms = std::min(config.chunk, of.k - term);
        const Matrix& addend = term > 0 ? of.y : of.addend;
        const ArgValue bias = term > 0 ? ArgValue{} : of.bias;
        Dispatch made{.kernel = config.kernel,
                      .constants = config.constants,
                      .args = {{"a", of.a.at},
                               {"b", of.b.at},
                               {"bias", given(bias) ? bias : of.y.at},
                               {"addend", given(addend.at) ? addend.at : of.y.at},
                               {"y", of.y.at},
                               {"m", extent(of.m)},
                               {"n", extent(of.n)},
                               {"term", extent(term)},
                               {"a_row", extent(of.a_row)},
                               {"a_pitch", extent(of.a.pitch)},
                               {"b_pitch", extent(of.b.pitch)},
                               {"y_pitch", extent(of.y.pitch)},
                               {"addend_pitch", extent(given(addend.at) ? addend.pitch : of.y.pitch)},
                               {"adds", (given(bias) ? adds_bias : 0U) | (given(addend.at) ? adds_addend : 0U)},
                               {"tiles_down", 1.0f / static_cast<float>(down)},
                               {"alpha", of.alpha}},
                      .groups = static_cast<std::uint64_t>(down * across),
                      .flops = 2.0 * static_cast<double>(of.m * of.n) * static_cast<double>(terms),
                      .bytes = 4.0 * (static_cast<double>((of.m + of.n) * terms) + static_cast<double>(of.m * of.n))};
        made.constants.emplace_back("TRANSPOSE_A", of.transpose_a);
        made.constants.emplace_back("TERMS", static_cast<std::uint32_t>(terms));
        to.dispatch(std::move(made));
    }
}

/// Columns of y, from `first` on: xᵀ + bias + addend, x being [rows, columns].
struct Transpose {
    std::int64_t rows, columns, first;
    Matrix x, y, addend;
    ArgValue bias;
    std::uint32_t layout_y, layout_addend;
};

void append(Lowering& to, const Transpose& of) {
    const std::int64_t down = up(of.rows, transposed_rows), across = up(of.columns, tile_columns(to.device));
    const double area = static_cast<double>(of.rows) * static_cast<double>(of.columns);
    Dispatch made{.kernel = "transpose",
                  .constants = {{"GROUP", to.device.subgroup_size},
                                {"ROWS", static_cast<std::uint32_t>(transposed_rows)},
                                {"VECTORS", static_cast<std::uint32_t>(vectors)},
                                {"LAYOUT_Y", of.layout_y}},
                  .args = {{"x", of.x.at},
                           {"bias", of.bias},
                           {"addend", of.addend.at},
                           {"y", of.y.at},
                           {"rows", extent(of.rows)},
                           {"columns", extent(of.columns)},
                           {"x_pitch", extent(of.x.pitch)},
                           {"y_pitch", extent(of.y.pitch)},
                           {"addend_pitch", extent(of.addend.pitch)},
                           {"first", extent(of.first)},
                           {"tiles_down", 1.0f / static_cast<float>(down)}},
                  .groups = static_cast<std::uint64_t>(down * across),
                  .bytes = 8.0 * area};
    if (!std::holds_alternative<std::monostate>(of.bias)) made.constants.emplace_back("BIAS", true);
    if (!std::holds_alternative<std::monostate>(of.addend.at)) {
        made.constants.emplace_back("ADDEND", true);
        made.constants.emplace_back("LAYOUT_ADDEND", of.layout_addend);
    }
    to.dispatch(std::move(made));
}

/// A product written as one whose b is not transposed, m and n being that one's.
struct Formulation {
    std::int64_t m, n;
    std::int64_t transposed;  // numbers that are transposed on the way
    bool swapped = false;     // yᵀ = b · aᵀ, of transposed b; else it is b that is transposed
};

/// Whether the kernels take it: tiles mostly whole, so much work that longer code and transposing are worth it, and
/// workgroups that have digits.
bool suits(const DeviceTraits& device, const GemmShape& shape, const Formulation& of) {
    constexpr std::int64_t least_work = 1 << 23, least_launch = 1 << 22;  // multiply-adds
    constexpr std::int64_t least_each = 60;                               // of them for a transposed number
    constexpr std::int64_t most_scratch = 1 << 22;                        // elements of bᵀ
    constexpr double most_padding = 1.3;                                  // computed elements of one that is wanted
    const std::int64_t columns = tile_columns(device), k = shape.k, work = of.m * of.n * k;
    if (of.m < transposed_rows || of.n < columns || k < shortest) return false;
    if (work < least_work || of.m * of.n * terms_of(k, work) < least_launch) return false;
    if (work < least_each * of.transposed) return false;
    const std::int64_t down = up(of.m, tile_rows), across = up(of.n, columns);
    if (static_cast<double>(down * tile_rows * across * columns) > most_padding * static_cast<double>(of.m * of.n))
        return false;
    if (!shape.transpose_b) return down * across <= most_groups;
    const std::int64_t to_transpose = up(of.n, transposed_rows) * up(k, columns);  // a or b
    if (to_transpose > most_groups) return false;
    if (!of.swapped) return of.transposed <= most_scratch && down * across <= most_groups;
    const std::int64_t rows = std::min(of.m, block_of(of.m, of.n) + transposed_rows);
    return up(rows, tile_rows) * across <= most_groups && up(rows, transposed_rows) * across <= most_groups;
}

/// The one that transposes least.
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
    made.tiles = up(of->m, tile_rows) * up(of->n, tile_columns(device));
    made.chunk = terms_of(shape.k, shape.m * shape.n * shape.k);
    return made;
}

void append_unrolled(Lowering& to, const GemmCall& of, const KernelConfig& config, std::optional<Scratch>& scratch) {
    const GemmShape& shape = of.shape;
    const std::int64_t m = shape.m, n = shape.n, k = shape.k;
    const Matrix a{of.a, of.a_at.pitch}, b{of.b, of.b_at.pitch}, y{of.y, of.y_pitch};
    const Matrix addend{of.aux, of.aux_pitch};
    const auto transposed = [&](const Matrix& x, std::int64_t rows, const Scratch& into) {
        const Matrix made{Section{into, 0, k * rows}, rows};
        append(to, Transpose{rows, k, 0, x, made, {}, {}, vector_layout(rows % 2 == 0), 0});
        return made;
    };
    const bool swapped = formulate(to.device, shape).value().swapped;
    if (!swapped) {
        const Matrix right = shape.transpose_b ? transposed(b, n, to.shared_scratch(scratch, k * n)) : b;
        return append(to, Product{m, n, k, shape.transpose_a, a, right, y, addend, of.bias, 0, of.alpha}, config);
    }
    const std::int64_t block = block_of(n, m);
    const Scratch both = to.shared_scratch(scratch, m * (k + std::min(block + transposed_rows, n)));
    const Matrix a_transposed = transposed(a, m, both);
    for (std::int64_t first = 0, rows = 0; first < n; first += rows) {
        rows = n - first < block + transposed_rows ? n - first : block;  // what is left is a whole tile
        const Matrix y_transposed{Section{both, k * m, rows * m}, m};
        append(to, Product{rows, m, k, false, b, a_transposed, y_transposed, {}, {}, first, of.alpha}, config);
        append(to, Transpose{rows, m, first, y_transposed, y, addend, of.bias, of.layout_y, of.layout_aux});
    }
}

}  // namespace vkf
