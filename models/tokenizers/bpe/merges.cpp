#include "models/tokenizers/bpe/merges.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "base/error.h"

namespace vkf {
namespace {

constexpr std::uint64_t NO_PAIR = std::numeric_limits<std::uint64_t>::max();
constexpr std::int32_t JOINED = -1;  // marks a place whose token was joined to the one before it

}  // namespace

MergeTable::MergeTable(const std::vector<Merge>& merges)
    : entries_(std::bit_ceil(2 * merges.size() + 1), Entry{NO_PAIR, 0, 0}),
      shift_(64 - std::countr_zero(entries_.size())) {
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
        const std::uint64_t pair = pair_of(merges[rank].left, merges[rank].right);
        entries_[slot(pair)] = {pair, static_cast<std::int32_t>(rank), merges[rank].token};
    }
}

std::size_t MergeTable::slot(std::uint64_t pair) const {
    // Fibonacci hashing takes the product's high bits; one entry alone would shift by all 64.
    std::size_t at = shift_ == 64 ? 0 : (pair * 0x9e3779b97f4a7c15) >> shift_;
    while (entries_[at].pair != pair && entries_[at].pair != NO_PAIR) at = (at + 1) & (entries_.size() - 1);
    return at;
}

const MergeTable::Entry* MergeTable::find(std::int32_t left, std::int32_t right) const {
    const std::uint64_t pair = pair_of(left, right);
    const Entry& entry = entries_[slot(pair)];
    return entry.pair == pair ? &entry : nullptr;
}

bool Merger::later(Candidate a, Candidate b) {
    return std::tuple(a.rank, a.at) > std::tuple(b.rank, b.at);
}

void Merger::consider(const MergeTable& merges, const Tokens& tokens, std::int32_t at) {
    if (at < 0) return;
    const auto index = static_cast<std::size_t>(at);
    const std::int32_t next = neighbours_[index].next;
    if (next < 0) return;
    const auto* entry = merges.find(tokens[index], tokens[static_cast<std::size_t>(next)]);
    if (entry) made_.push_back({entry->rank, at});
}

void Merger::queue_made() {
    for (const Candidate candidate : made_) {
        heap_.push_back(candidate);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    made_.clear();
}

void Merger::merge(const MergeTable& merges, Tokens& tokens, MergeOrder order) {
    require(tokens.size() <= std::size_t{std::numeric_limits<std::int32_t>::max()}, "a word has ", tokens.size(),
            " bytes, wanted fewer than 2^31");
    const auto size = static_cast<std::int32_t>(tokens.size());
    neighbours_.resize(tokens.size());
    heap_.clear();
    made_.clear();
    for (std::int32_t at = 0; at < size; ++at) {
        neighbours_[static_cast<std::size_t>(at)] = {at - 1, at + 1 < size ? at + 1 : -1};
    }
    for (std::int32_t at = 0; at < size; ++at) consider(merges, tokens, at);
    std::int32_t rank = 0;  // of the last candidate
    while (!heap_.empty() || !made_.empty()) {
        const bool in_round = order == MergeOrder::rounds && !heap_.empty() && heap_.front().rank == rank;
        if (!in_round) queue_made();
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Candidate best = heap_.back();
        heap_.pop_back();
        rank = best.rank;
        const auto at = static_cast<std::size_t>(best.at);
        const std::int32_t next = neighbours_[at].next;
        if (tokens[at] == JOINED || next < 0) continue;
        // The candidate may have changed since.
        const auto right = static_cast<std::size_t>(next);
        const auto* entry = merges.find(tokens[at], tokens[right]);
        if (!entry || entry->rank != best.rank) continue;
        tokens[at] = entry->token;
        tokens[right] = JOINED;
        neighbours_[at].next = neighbours_[right].next;
        if (neighbours_[at].next >= 0) neighbours_[static_cast<std::size_t>(neighbours_[at].next)].previous = best.at;
        consider(merges, tokens, neighbours_[at].previous);
        consider(merges, tokens, best.at);
    }
    std::erase(tokens, JOINED);
}

}  // namespace vkf
