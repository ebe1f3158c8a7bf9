#include "ops/attention/attention_mask.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace vkf {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int32_t>::max();

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
    return i < queries && j < keys && j >= at - left && j <= at + right && !(diagonal && j == at);
}

MaskRow::Range MaskRow::keys_of(std::int64_t i) const {
    if (i >= queries) return {0, 0};
    const std::int64_t at = position(i);
    return {std::clamp<std::int64_t>(at - left, 0, keys), std::clamp<std::int64_t>(at + right + 1, 0, keys)};
}

double MaskRow::pairs() const {
    double sum = 0;
    for (std::int64_t i = 0; i < queries; ++i) {
        const Range range = keys_of(i);
        sum += static_cast<double>(std::max<std::int64_t>(0, range.end - range.begin));
    }
    return sum;
}

void AttentionMask::check(std::int64_t batches, const TensorType& query_type, const TensorType& key_type) const {
    require(!window_left || *window_left >= 0, "the window begins ", window_left.value_or(0),
            " keys before a query, wanted 0 or more");
    require(!window_right || *window_right >= 0, "the window ends ", window_right.value_or(0),
            " keys after a query, wanted 0 or more");
    const TensorType each{DType::i32, {batches}}, one{DType::i32, {1}};
    require(!query_lengths || query_type == each, "lengths of queries are ", query_type, ", wanted ", each);
    require(!key_lengths || key_type == each || key_type == one, "lengths of keys are ", key_type, ", wanted ", each,
            " or ", one);
}

MaskRow AttentionMask::row(std::int64_t queries, std::int64_t keys, std::int64_t b,
                           const std::vector<double>& query_numbers, const std::vector<double>& key_numbers) const {
    return {.queries = counted(query_numbers, b, queries),
            .keys = counted(key_numbers, b, keys),
            .left = limited(window_left),
            .right = causal ? 0 : limited(window_right),
            .diagonal = diagonal};
}

void AttentionMask::append_windows(Dispatch& dispatch, std::int64_t queries, std::int64_t keys) const {
    const MaskRow row = this->row(queries, keys);
    // Positions are in (−T, S): the first key is at most S − 1 before a position, and the last at most T − 1 after it.
    const auto window = [](std::int64_t length, std::int64_t farthest) {
        return length < farthest ? static_cast<std::int32_t>(length) : -1;
    };
    dispatch.constants.insert(dispatch.constants.end(), {{"WINDOW_LEFT", window(row.left, keys - 1)},
                                                         {"WINDOW_RIGHT", window(row.right, queries - 1)},
                                                         {"MASK_DIAGONAL", diagonal}});
}

void AttentionMask::append_lengths(Dispatch& dispatch, Table& optional, Tensor query_numbers,
                                   Tensor key_numbers) const {
    const std::int64_t of_keys = key_numbers ? std::min<std::int64_t>(key_numbers.elements(), 2) : 0;
    dispatch.constants.insert(dispatch.constants.end(), {{"QUERY_LENGTHS", static_cast<bool>(query_numbers)},
                                                         {"KEY_LENGTHS", checked_u32(of_keys)}});
    optional.columns.emplace_back("query_lengths", std::vector{query_numbers});
    optional.columns.emplace_back("key_lengths", std::vector{key_numbers});
}

}  // namespace vkf
