#include "apps/inspect/inspect_explain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/cli/common.h"
#include "apps/inspect/explain_differences.h"
#include "models/families/accounting.h"
#include "models/families/family.h"
#include "models/train/optimizer.h"

namespace vkf {

using nlohmann::ordered_json;
using Unit = ExplainedQuantity::Unit;

namespace {

/// The shortest form of a formula: "12·l·h²" of "l·(4·h² + 2·h·f) = 12·l·h²".
std::string shortest_form(const Formula& formula) {
    const std::size_t equal = formula.symbols.rfind(" = ");
    return equal == std::string::npos ? formula.symbols : formula.symbols.substr(equal + 3);
}

/// Product of sizes and a formula: "l·(24·h² + 2·s·h)", or, for a single product, "64·l·h".
std::string product_form(const std::string& sizes, const Formula& formula) {
    const std::string form = shortest_form(formula);
    if (form.find(" + ") != std::string::npos) return text(sizes, "·(", form, ")");
    const std::size_t digits = form.find_first_not_of("0123456789");
    return digits == 0 ? text(sizes, "·", form) : text(form.substr(0, digits), "·", sizes, form.substr(digits));
}

std::string sum_form(const std::string& a, const std::string& b) {
    return a.empty() || b.empty() ? a + b : a + " + " + b;
}

/// Number of arrays like the parameters that updates keep: moments and moving averages.
std::int64_t arrays_kept(const Parameters& parameters, const OptimizerConfig& config) {
    const std::vector<Parameter> trained = parameters.trained();
    if (trained.empty()) return 0;
    return std::ssize(update_states(trained, config)) / std::ssize(trained);
}

/// Makes the rows of one model, part by part.
class Rows {
public:
    Rows(const InspectedModel& model, const ModelSizes& sizes, const ExactNumbers& exact)
        : model_(model), sizes_(sizes), exact_(exact) {
        for (const BlockSizes& at : sizes.blocks) blocks_.push_back(formulas(at));
        micro_batches_ = static_cast<double>(model.trainer.gradient_accumulation_steps);
    }

    Explanation made() {
        made_.symbols.push_back(text("b = ", model_.sizes.rows, " rows of a batch, N is the number of all parameters"));
        for (const BlockFormulas& block : blocks_) {
            made_.symbols.push_back(symbols(block));
            add_parameters(block);
        }
        add_tables();
        for (const BlockFormulas& block : blocks_) add_flops(block);
        add_all_flops();
        for (const BlockFormulas& block : blocks_) add_kept(block);
        add_states();
        add_generation();
        made_.differences.insert(made_.differences.end(), sizes_.notes.begin(), sizes_.notes.end());
        if (const std::string kind = kind_sentence(model_.config.attention()); !kind.empty())
            made_.differences.push_back(kind);
        return std::move(made_);
    }

private:
    void add(std::string quantity, std::string formula, double by_formula, double exact, Unit unit) {
        made_.quantities.push_back({std::move(quantity), std::move(formula), by_formula, exact, unit});
    }

    static std::string symbols(const BlockFormulas& block) {
        const BlockSizes& at = block.sizes;
        std::string words = text(at.name, ": l = ", at.blocks, ", h = ", at.width, ", a = ", at.heads);
        if (at.queries != at.width) words += text(", q = ", at.queries);
        if (at.keys != at.width) words += text(", k = ", at.keys);
        return words + text(", f = ", at.inner, ", s = ", at.length);
    }

    /// Tokens of a batch that pass through the blocks.
    double tokens(const BlockFormulas& block) const {
        return static_cast<double>(model_.sizes.rows * block.sizes.length);
    }

    void add_parameters(const BlockFormulas& block) {
        const BlockParameters exact = block_parameters(exact_.parameters, block.sizes.path);
        const auto blocks = static_cast<double>(block.sizes.blocks);
        const auto all = static_cast<double>(exact.all());
        add(text("parameters of one ", block.sizes.name), block.parameters.symbols, block.parameters.value,
            all / blocks, Unit::count);
        add(text("parameters of ", block.sizes.blocks, ' ', block.sizes.name, "s"), block.all_parameters.symbols,
            block.all_parameters.value, all, Unit::count);
        made_.differences.push_back(parameter_difference(model_.config, block.sizes, exact));
        all_parameters_ = sum_form(all_parameters_, shortest_form(block.all_parameters));
        count_ += block.all_parameters.value;
    }

    void add_tables() {
        const double width = static_cast<double>(sizes_.blocks.front().width);
        for (const ParameterTable& table : sizes_.tables) {
            const double value = static_cast<double>(table.rows) * width;
            const std::string form = table.symbol == "h" ? "h²" : table.symbol + "·h";
            add(text(table.name, ", ", table.symbol, " = ", table.rows), form, value,
                static_cast<double>(parameters_in(exact_.parameters, table.path)), Unit::count);
            all_parameters_ = sum_form(all_parameters_, form);
            count_ += value;
        }
        add("all parameters", all_parameters_, count_, static_cast<double>(exact_.parameters.count()), Unit::count);
    }

    void add_flops(const BlockFormulas& block) {
        const BlockSizes& at = block.sizes;
        const double tokens = this->tokens(block) * static_cast<double>(at.blocks);
        const BlockFlops forward = block_flops(exact_.forward, at.path).over(tokens);
        const BlockFlops training = block_flops(exact_.step, at.path).over(tokens * micro_batches_);
        const int passes = training_passes();
        add(text("FLOPs of a token in one ", at.name, ", forward"), block.flops.symbols, block.flops.value,
            forward.all(), Unit::flops);
        add(text("FLOPs of a token in one ", at.name, ", training"), product_form(text(passes), block.flops),
            passes * block.flops.value, training.all(), Unit::flops);
        made_.differences.push_back(flops_difference(block, forward, training));
        const double tokens_of_item = static_cast<double>(sizes_.item_tokens);
        all_flops_ = sum_form(all_flops_, product_form(sizes_.item_tokens > 1 ? "s·l" : "l", block.flops));
        flops_ += tokens_of_item * static_cast<double>(at.blocks) * block.flops.value;
    }

    /// With recomputation the forward pass runs twice.
    int training_passes() const { return model_.trainer.recompute ? 4 : 3; }

    void add_all_flops() {
        const char* const item = model_.task->item;
        const std::string form = sum_form(all_flops_, sizes_.other_flops.symbols);
        const double forward = flops_ + sizes_.other_flops.value;
        const int passes = training_passes();
        const double trained = exact_.step.flops / model_.items_in_step();
        add(text("FLOPs of a", item[0] == 'i' ? "n " : " ", item, ", forward"), form, forward,
            exact_.forward.flops / model_.items(), Unit::flops);
        add(text("FLOPs of a", item[0] == 'i' ? "n " : " ", item, ", training"), text(passes, "·(", form, ")"),
            passes * forward, trained, Unit::flops);
        if (sizes_.blocks.size() != 1 || sizes_.item_tokens != 1) return;
        const BlockSizes& block = sizes_.blocks.front();
        double counted = count_;  // N of nanoGPT: position embeddings are not multiplied
        for (const ParameterTable& table : sizes_.tables)
            if (table.symbol == "s") counted -= static_cast<double>(table.rows * block.width);
        const double attention = 12.0 * static_cast<double>(block.blocks * block.length * block.queries);
        add("the same as PaLM and nanoGPT count", block.queries == block.width ? "6·N + 12·l·s·h" : "6·N + 12·l·s·q",
            6 * counted + attention, trained, Unit::flops);
        made_.differences.push_back(
            "PaLM and nanoGPT count 6 FLOPs of training for each parameter but those of positions, and attention "
            "without a mask: 6·N + 12·l·s·h.");
    }

    void add_kept(const BlockFormulas& block) {
        const BlockSizes& at = block.sizes;
        const bool narrow = model_.trainer.activations != Format::f32;
        const Formula recomputed{"4·h", 4.0 * static_cast<double>(at.width)};
        const Formula& kept = model_.trainer.recompute ? recomputed : narrow ? block.kept_in_16 : block.kept;
        const double tokens = this->tokens(block), blocks = static_cast<double>(at.blocks);
        const double exact = kept_bytes(exact_.step, at.path);
        add(text("kept for backward, of a token in one ", at.name), kept.symbols, kept.value, exact / tokens / blocks,
            Unit::bytes);
        add(text("kept for backward, of a batch in ", at.blocks, ' ', at.name, "s"), product_form("b·s·l", kept),
            tokens * blocks * kept.value, exact, Unit::bytes);
        made_.differences.push_back(kept_sentence(block, model_.trainer));
    }

    void add_states() {
        const double n = static_cast<double>(exact_.parameters.count());
        const double trained = static_cast<double>(count(exact_.parameters.trained()));
        const auto arrays = static_cast<double>(arrays_kept(exact_.parameters, model_.trainer.optimizer));
        const bool sums = model_.trainer.gradient_accumulation_steps > 1;
        const char* const of_trained = trained == n ? "·N" : "·T";
        if (trained < n)
            made_.differences.push_back(text("T = ", trained,
                                             " parameters are trained. The others have no gradients, so "
                                             "less is kept, and the backward pass is shorter."));
        add("weights", "4·N", 4 * n, static_cast<double>(exact_.forward.states), Unit::bytes);
        add(sums ? "gradients, and their sums over micro-batches" : "gradients", text(sums ? 8 : 4, of_trained),
            (sums ? 8 : 4) * trained, static_cast<double>(exact_.step.gradients), Unit::bytes);
        const double own = static_cast<double>(exact_.step.states - exact_.forward.states) -
                           (sums ? static_cast<double>(exact_.step.gradients) / 2 : 0);
        add(text("states of ", name_of(model_.trainer.optimizer.kind)), text(4 * arrays, of_trained),
            4 * arrays * trained, own, Unit::bytes);
        const double all = 4 * (1 + arrays + (sums ? 2 : 1));
        if (trained == n)
            add("all of training but activations", text(all, "·N"), all * n,
                static_cast<double>(exact_.step.states) + static_cast<double>(exact_.step.gradients) / (sums ? 2 : 1),
                Unit::bytes);
    }

    /// Cache of one row with room for a whole context; source and target are as long.
    void add_generation() {
        if (!exact_.generation) return;
        const Analysis& writing = *exact_.generation;
        const auto context = static_cast<double>(model_.config.size(Dimension::context).value);
        const auto bytes = static_cast<double>(bytes_of(1, model_.trainer.activations));
        std::string form;
        double cache = 0;
        for (const BlockFormulas& block : blocks_) {
            if (!block.sizes.causal) continue;
            const bool cross = block.sizes.cross;
            form = text(bytes, cross ? "·4·l·s·" : "·2·l·s·", block.sizes.keys == block.sizes.width ? "h" : "k");
            cache += bytes * (cross ? 2 : 1) * static_cast<double>(block.sizes.blocks) * context * block.cache.value;
        }
        const double weights = static_cast<double>(exact_.forward.states);
        add(text("cache of one text, s = ", context), form, cache, static_cast<double>(writing.states) - weights,
            Unit::bytes);
        add("generation, weights and cache", sum_form("4·N", form),
            4 * static_cast<double>(exact_.parameters.count()) + cache, static_cast<double>(writing.states),
            Unit::bytes);
        made_.differences.push_back(text("Generation keeps no activations: its programs share ",
                                         bytes_text(static_cast<double>(writing.arena)),
                                         " for what an op reads and writes."));
    }

    const InspectedModel& model_;
    const ModelSizes& sizes_;
    const ExactNumbers& exact_;
    std::vector<BlockFormulas> blocks_;
    double micro_batches_ = 1;
    std::string all_parameters_, all_flops_;
    double count_ = 0, flops_ = 0;
    Explanation made_;
};

std::string value_text(double value, Unit unit) {
    switch (unit) {
        case Unit::count:
            return fixed(value, value == std::floor(value) ? 0 : 1);
        case Unit::flops:
            return count_text(value);
        case Unit::bytes:
            return bytes_text(value);
    }
    return {};
}

/// By how much the exact number is more than the formula's: "+0.13 %".
std::string difference_text(const ExplainedQuantity& at) {
    if (at.by_formula == 0) return "";
    const double share = 100 * (at.exact - at.by_formula) / at.by_formula;
    if (at.exact == at.by_formula) return "0";
    return text(share > 0 ? "+" : "", fixed(share, 2), " %");
}

}  // namespace

std::optional<Analysis> analyse_generation(const InspectedModel& model, const TraitsFor& traits_for) {
    const std::vector<GraphBuilder> programs = model.generation(1);
    if (programs.empty()) return {};
    return analyse_together(programs, model.trainer.activations, traits_for);
}

Explanation explain(const InspectedModel& model, const ExactNumbers& exact) {
    const Accounting* accounting = model.config.family().accounting;
    require(accounting && accounting->sizes, "--explain has no formulas for ", model.config.family().command,
            ": they count blocks of attention and feed-forward");
    return Rows(model, accounting->sizes(model.config, model.sizes.length), exact).made();
}

std::string explanation_text(const Explanation& explanation) {
    std::vector<std::vector<std::string>> rows{{"quantity", "formula", "by formula", "exact", "difference"}};
    for (const ExplainedQuantity& at : explanation.quantities)
        rows.push_back({at.quantity, at.formula, value_text(at.by_formula, at.unit), value_text(at.exact, at.unit),
                        difference_text(at)});
    std::string words = "\nFormulas and exact numbers\n" + table(rows);
    for (const std::string& line : explanation.symbols) words += line + "\n";
    for (const std::string& line : explanation.differences) words += "- " + line + "\n";
    return words;
}

void explain_in(ordered_json& document, const Explanation& explanation) {
    auto list = ordered_json::array();
    for (const ExplainedQuantity& at : explanation.quantities)
        list.push_back(
            {{"quantity", at.quantity}, {"formula", at.formula}, {"by_formula", at.by_formula}, {"exact", at.exact}});
    document["explain"] = std::move(list);
    document["explain_symbols"] = explanation.symbols;
    document["explain_differences"] = explanation.differences;
}

}  // namespace vkf
