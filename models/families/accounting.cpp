#include "models/families/accounting.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace vkf {

namespace {

/// A size in a formula: `factor` times the value that a symbol stands for.
struct Extent {
    std::string symbol;
    std::int64_t value = 1, factor = 1;
};

/// A sum of products of two sizes, such as 4·h² + 2·h·f, or of single sizes. Equal products are joined.
class Sum {
public:
    void add(std::int64_t factor, const Extent& a) { add(factor * a.factor, a.symbol, factor * a.factor * a.value); }
    void add(std::int64_t factor, const Extent& a, const Extent& b) {
        const std::int64_t all = factor * a.factor * b.factor;
        add(all, a.symbol == b.symbol ? a.symbol + "²" : a.symbol + "·" + b.symbol, all * a.value * b.value);
    }
    void add(const Sum& other) {
        for (const Term& term : other.terms_) add(term.factor, term.symbols, term.value);
    }

    Sum times(std::int64_t factor) const {
        Sum made;
        for (const Term& term : terms_) made.add(factor * term.factor, term.symbols, factor * term.value);
        return made;
    }
    /// Multiplies by a size, which is written before the terms: 12·l·h², or l·(4·h² + 2·h·f).
    Formula times(const Extent& size) const {
        const double value = static_cast<double>(size.value) * this->value();
        if (terms_.size() != 1) return {text(size.symbol, "·(", symbols(), ")"), value};
        return {term(terms_.front().factor, size.symbol + "·" + terms_.front().symbols), value};
    }

    std::string symbols() const {
        std::string list;
        for (const Term& at : terms_) list += (list.empty() ? "" : " + ") + term(at.factor, at.symbols);
        return list;
    }
    double value() const {
        double sum = 0;
        for (const Term& at : terms_) sum += static_cast<double>(at.value);
        return sum;
    }
    Formula formula() const { return {symbols(), value()}; }

private:
    struct Term {
        std::int64_t factor;
        std::string symbols;
        std::int64_t value;
    };

    static std::string term(std::int64_t factor, const std::string& symbols) {
        return factor == 1 ? symbols : text(factor, "·", symbols);
    }
    void add(std::int64_t factor, const std::string& symbols, std::int64_t value) {
        const auto found = std::ranges::find(terms_, symbols, &Term::symbols);
        if (found == terms_.end()) return terms_.push_back({factor, symbols, value});
        found->factor += factor;
        found->value += value;
    }

    std::vector<Term> terms_;
};

/// Sizes of a block under their symbols. Widths that are equal to h are written as h; the width inside the feed-forward
/// as a multiple of h, too, if it `joins`.
struct Symbols {
    Extent h, q, k, f, s;

    Symbols(const BlockSizes& sizes, bool joins)
        : h{"h", sizes.width},
          q{as_width("q", sizes.queries, sizes.width)},
          k{as_width("k", sizes.keys, sizes.width)},
          f{joins && sizes.inner % sizes.width == 0 ? Extent{"h", sizes.width, sizes.inner / sizes.width}
                                                    : Extent{"f", sizes.inner}},
          s{"s", sizes.length} {}

private:
    static Extent as_width(const char* symbol, std::int64_t value, std::int64_t width) {
        return value == width ? Extent{"h", value} : Extent{symbol, value};
    }
};

Sum parameters(const BlockSizes& sizes, const Symbols& in) {
    const std::int64_t attentions = sizes.cross ? 2 : 1;
    Sum sum;
    sum.add(2 * attentions, in.h, in.q);
    sum.add(2 * attentions, in.h, in.k);
    sum.add(sizes.inner_maps, in.h, in.f);
    return sum;
}

Sum products(const BlockSizes& sizes, const Symbols& in) {
    return parameters(sizes, in).times(2);
}

Sum attention(const BlockSizes& sizes, const Symbols& in) {
    Sum sum;
    sum.add((sizes.causal ? 2 : 4) + (sizes.cross ? 4 : 0), in.s, in.q);
    return sum;
}

Sum flops(const BlockSizes& sizes, const Symbols& in) {
    Sum sum = products(sizes, in);
    sum.add(attention(sizes, in));
    return sum;
}

/// Bytes for one token, with activations of `bytes` each.
Sum kept(const BlockSizes& sizes, const Symbols& in, std::int64_t bytes) {
    const std::int64_t attentions = sizes.cross ? 2 : 1, sublayers = attentions + 1;
    Sum sum;
    sum.add(4 * sublayers, in.h);
    sum.add((sizes.post_norm ? 4 : bytes) * sublayers, in.h);
    sum.add(2 * bytes * attentions, in.q);
    sum.add(2 * bytes * attentions, in.k);
    sum.add(bytes * sizes.inner_maps, in.f);
    return sum;
}

/// A formula with f, and its shorter form with multiples of h, if that is another.
Formula both(const Formula& plain, const Formula& joined) {
    return {plain.symbols == joined.symbols ? plain.symbols : plain.symbols + " = " + joined.symbols, plain.value};
}

}  // namespace

BlockFormulas formulas(const BlockSizes& sizes) {
    const Symbols plain(sizes, false), joined(sizes, true);
    const Extent l{"l", sizes.blocks};
    const auto of_block = [&](const auto& sum) {
        return both(sum(sizes, plain).formula(), sum(sizes, joined).formula());
    };
    const auto bytes_kept = [&](std::int64_t bytes) {
        return both(kept(sizes, plain, bytes).formula(), kept(sizes, joined, bytes).formula());
    };
    Sum cache;
    cache.add(2, plain.k);
    return {.sizes = sizes,
            .parameters = of_block(parameters),
            .all_parameters = both(parameters(sizes, plain).times(l), parameters(sizes, joined).times(l)),
            .products = of_block(products),
            .attention = of_block(attention),
            .flops = of_block(flops),
            .kept = bytes_kept(4),
            .kept_in_16 = bytes_kept(2),
            .cache = cache.formula()};
}

Formula logits_flops(std::int64_t classes, std::int64_t width) {
    return {"2·v·h", 2.0 * static_cast<double>(classes) * static_cast<double>(width)};
}

}  // namespace vkf
