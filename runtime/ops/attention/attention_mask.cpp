#include "ops/attention/attention_mask.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/integers.h"
#include "base/random.h"

namespace vkf {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int32_t>::max();

constexpr std::int64_t largest_block = 1 << 24;  // block: kernels compute positions in 32 bits

std::int64_t limited(const std::optional<std::int64_t>& window) {
    return std::min(window.value_or(unlimited), unlimited);
}

std::int64_t counted(const std::vector<double>& lengths, std::int64_t b, std::int64_t most) {
    if (lengths.empty()) return most;
    const double length = lengths.size() == 1 ? lengths.front() : lengths.at(static_cast<std::size_t>(b));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(length), 0, most);
}

}  // namespace

bool MaskRow::visible(std::int64_t i, std::int64_t j) const {
    const std::int64_t at = position(i);
    if (i >= queries || j >= keys || (causal && j > at) || (diagonal && j == at)) return false;
    const std::int64_t own = block_of(at), other = block_of(j), distance = other - own;
    return (distance >= -left && distance <= right && distance % dilation == 0) || is_global(own) || is_global(other) ||
           std::ranges::binary_search(random_blocks(own), other);
}

std::vector<MaskRow::Range> MaskRow::keys_of(std::int64_t i) const {
    if (i >= queries) return {};
    const std::int64_t own = block_of(position(i)), end = causal ? std::min(keys, position(i) + 1) : keys;
    std::vector<Range> found;
    const auto visit = [&](std::int64_t first, std::int64_t last) {  // blocks [first, last)
        const Range range{std::max<std::int64_t>(first * block, 0), std::min(last * block, end)};
        if (range.begin < range.end) found.push_back(range);
    };
    if (is_global(own)) visit(0, blocks);
    visit(0, global_first);
    visit(own - left, own + right + 1);
    visit(blocks - global_last, blocks);
    for (const std::int64_t other : random_blocks(own)) visit(other, other + 1);

    std::ranges::sort(found, {}, &Range::begin);
    std::vector<Range> merged;
    for (const Range& range : found)
        if (merged.empty() || merged.back().end < range.begin)
            merged.push_back(range);
        else
            merged.back().end = std::max(merged.back().end, range.end);
    return merged;
}

double MaskRow::pairs() const {
    double sum = 0;
    for (std::int64_t i = 0; i < queries; ++i)
        for (const Range& range : keys_of(i)) sum += static_cast<double>(range.end - range.begin);
    return sum;
}

std::int64_t MaskRow::block_of(std::int64_t position) const {
    return position < 0 ? -ceil_div(-position, block) : position / block;
}

std::vector<std::int64_t> MaskRow::random_blocks(std::int64_t of) const {
    if (random == 0 || of < 0 || is_global(of)) return {};
    const std::int64_t end = blocks - global_last;
    const std::int64_t before = std::max<std::int64_t>(of - left - global_first, 0);  // blocks before the window
    const std::int64_t after = causal ? end : std::min(of + right + 1, end);          // first one after it
    const std::int64_t choices = before + end - after;

    // Floyd's choice of a subset (Bentley: Programming pearls, a sample of brilliance, 1987)
    Random draws(seed, "random blocks of attention", static_cast<std::uint64_t>(of));
    std::vector<std::int64_t> drawn;
    for (std::int64_t last = std::max<std::int64_t>(choices - random, 0); last < choices; ++last) {
        const auto choice = static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(last) + 1));
        drawn.push_back(std::ranges::find(drawn, choice) == drawn.end() ? choice : last);
    }
    for (std::int64_t& choice : drawn) choice += choice < before ? global_first : after - before;
    std::ranges::sort(drawn);
    return drawn;
}

void AttentionMask::check(std::int64_t batches, const TensorType& query_type, const TensorType& key_type) const {
    require(!window_left || *window_left >= 0, "the window begins ", window_left.value_or(0),
            " keys before a query, wanted 0 or more");
    require(!window_right || *window_right >= 0, "the window ends ", window_right.value_or(0),
            " keys after a query, wanted 0 or more");
    require(dilation >= 1 && dilation <= unlimited, "the dilation is ", dilation, ", wanted 1 or more");
    require(block >= 1 && block <= largest_block, "a block has ", block, " positions, wanted 1 to ", largest_block);
    require(global_first >= 0 && global_last >= 0, "has ", global_first, " and ", global_last,
            " global blocks, wanted 0 or more");
    require(random_blocks >= 0, "has ", random_blocks, " random blocks, wanted 0 or more");
    const TensorType each{DType::i32, {batches}}, one{DType::i32, {1}};
    require(!query_lengths || query_type == each, "lengths of queries are ", query_type, ", wanted ", each);
    require(!key_lengths || key_type == each || key_type == one, "lengths of keys are ", key_type, ", wanted ", each,
            " or ", one);
}

MaskRow AttentionMask::row(std::int64_t queries, std::int64_t keys, std::int64_t b,
                           const std::vector<double>& query_numbers, const std::vector<double>& key_numbers) const {
    const std::int64_t blocks = ceil_div(keys, block);
    return {.queries = counted(query_numbers, b, queries),
            .keys = counted(key_numbers, b, keys),
            .causal = causal,
            .diagonal = diagonal,
            .left = limited(window_left),
            .right = causal ? 0 : limited(window_right),
            .dilation = dilation,
            .block = block,
            .blocks = blocks,
            .global_first = std::min(global_first, blocks),
            .global_last = std::min(global_last, blocks),
            .random = std::min(random_blocks, blocks),
            .seed = random_seed};
}

void AttentionMask::append_pattern(Dispatch& dispatch, std::int64_t queries, std::int64_t keys) const {
    const MaskRow row = this->row(queries, keys);
    // Positions are in (−T, S): the first key is at most S − 1 before a position, and the last at most T − 1 after it.
    const auto window = [&](std::int64_t length, std::int64_t farthest) {
        return length < ceil_div(farthest, block) ? static_cast<std::int32_t>(length) : -1;
    };
    const std::int32_t left = window(row.left, keys - 1), right = window(row.right, queries - 1);
    const bool some_hidden = left >= 0 || (right >= 0 && !causal) || dilation > 1;  // by the pattern of blocks
    const auto of_pattern = [&](std::int64_t value, std::int32_t otherwise = 0) {
        return some_hidden ? static_cast<std::int32_t>(value) : otherwise;
    };
    const bool sparse = some_hidden && row.global_first + row.global_last + row.random > 0;
    dispatch.constants.insert(dispatch.constants.end(), {{"WINDOW_LEFT", left},
                                                         {"WINDOW_RIGHT", right},
                                                         {"MASK_DIAGONAL", diagonal},
                                                         {"CAUSAL", causal && (sparse || of_pattern(block, 1) > 1)},
                                                         {"DILATION", static_cast<std::int32_t>(dilation)},
                                                         {"MASK_BLOCK", of_pattern(block, 1)},
                                                         {"MASK_BLOCKS", of_pattern(row.blocks)},
                                                         {"GLOBAL_FIRST", of_pattern(row.global_first)},
                                                         {"GLOBAL_LAST", of_pattern(row.global_last)},
                                                         {"RANDOM_BLOCKS", of_pattern(row.random)}});
}

void AttentionMask::append_lengths(Dispatch& dispatch, Table& optional, Tensor query_numbers,
                                   Tensor key_numbers) const {
    const std::int64_t of_keys = key_numbers ? std::min<std::int64_t>(key_numbers.elements(), 2) : 0;
    dispatch.constants.insert(dispatch.constants.end(), {{"QUERY_LENGTHS", static_cast<bool>(query_numbers)},
                                                         {"KEY_LENGTHS", checked_u32(of_keys)}});
    optional.columns.emplace_back("query_lengths", std::vector{query_numbers});
    optional.columns.emplace_back("key_lengths", std::vector{key_numbers});
}

void AttentionMask::append_random_blocks(Table& table, std::int64_t queries, std::int64_t keys) const {
    const MaskRow row = this->row(queries, keys);
    const auto random = as_index(row.random), blocks = as_index(row.blocks);
    std::vector<std::uint32_t> drawn(random * blocks, ~0U), first_drawer, drawers;
    std::vector<std::vector<std::uint32_t>> drawers_of(random > 0 ? blocks : 0);
    for (std::size_t of = 0; of < drawers_of.size(); ++of) {
        std::size_t i = of * random;
        for (const std::int64_t other : row.random_blocks(static_cast<std::int64_t>(of))) {
            drawn[i++] = checked_u32(other);
            drawers_of[as_index(other)].push_back(static_cast<std::uint32_t>(of));
        }
    }
    for (const std::vector<std::uint32_t>& list : drawers_of) {
        first_drawer.push_back(checked_u32(std::ssize(drawers)));
        drawers.insert(drawers.end(), list.begin(), list.end());
    }
    first_drawer.push_back(checked_u32(std::ssize(drawers)));

    table.columns.insert(table.columns.end(), {{"random_block", std::move(drawn)},
                                               {"first_drawer", std::move(first_drawer)},
                                               {"drawer", std::move(drawers)}});
    const std::size_t rows = std::max(random * blocks, blocks + 1);
    for (auto& [name, column] : table.columns)
        std::visit([&](auto& cells) { cells.resize(random > 0 ? rows : 1); }, column);
}

}  // namespace vkf
