#include "apps/inspect/explain_differences.h"

#include <map>
#include <utility>
#include <vector>

#include "apps/cli/common.h"
#include "models/attention/kind.h"

namespace vkf {

namespace {

/// True if the path is the scope or in it.
bool is_in(std::string_view path, std::string_view scope) {
    return path.starts_with(scope) && (path.size() == scope.size() || path[scope.size()] == '.');
}

/// "a, b and c".
std::string enumerated(const std::vector<std::string>& words) {
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i)
        list += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    return list;
}

std::string share_text(double part, double whole) {
    return fixed(100 * part / whole, 1) + " %";
}

}  // namespace

BlockParameters block_parameters(const Parameters& parameters, std::string_view path) {
    std::map<std::string, bool> maps;  // name of a weight: true for a second output map
    for (const LinearMap& map : parameters.linear_maps()) maps[map.path + ".weight"] = map.path.ends_with("_s");
    BlockParameters made;
    for (const Parameter& parameter : parameters.list()) {
        if (!is_in(parameter.name, path)) continue;
        const std::string& name = parameter.name;
        const std::size_t end = name.rfind('.');
        const auto map = maps.find(name.substr(0, end) + ".weight");
        const std::int64_t count = parameter.shape.elements();
        if (name.find(".lora_") != std::string::npos)
            made.adapters += count;
        else if (map == maps.end())
            (parameter.shape.rank() == 4 ? made.kernels : made.others) += count;
        else if (name.ends_with(".bias"))
            made.biases += count;
        else
            (map->second ? made.second_maps : made.maps) += count;
    }
    return made;
}

std::int64_t parameters_in(const Parameters& parameters, std::string_view path) {
    std::int64_t count = 0;
    for (const Parameter& parameter : parameters.list())
        if (is_in(parameter.name, path)) count += parameter.shape.elements();
    return count;
}

BlockFlops block_flops(const Analysis& analysis, std::string_view path) {
    BlockFlops made;
    for (const NodeCost& cost : analysis.costs) {
        if (!is_in(cost.part, path)) continue;
        if (cost.op.starts_with("attention"))
            made.attention += cost.flops;
        else
            (cost.op.find("matmul") != std::string::npos ? made.products : made.others) += cost.flops;
    }
    return made;
}

double kept_bytes(const Analysis& step, std::string_view path) {
    double bytes = 0;
    for (const Resident& at : step.residents)
        if (is_in(at.scope, path) && at.first <= step.loss_node && step.loss_node < at.last)
            bytes += static_cast<double>(at.bytes);
    return bytes;
}

std::string parameter_difference(const ModelConfig& config, const BlockSizes& sizes, const BlockParameters& exact) {
    std::vector<std::string> reasons;
    const auto add = [&](std::int64_t count, const std::string& words) {
        if (count > 0) reasons.push_back(text(count / sizes.blocks, " in ", words));
    };
    const std::string variant = config.has_attention() ? config.attention().variant_name() : "";
    add(exact.second_maps, text("the second output map of ", variant, ", which has h² weights"));
    add(exact.biases, "biases");
    add(exact.kernels, "convolutions");
    add(exact.others, variant == "standard" ? "norms" : "norms and other vectors");
    add(exact.adapters, "adapters");
    if (reasons.empty()) return text("One ", sizes.name, " has exactly the parameters of the formula.");
    return text("One ", sizes.name, " has parameters that the formula does not count: ", enumerated(reasons), ".");
}

std::string flops_difference(const BlockFormulas& block, const BlockFlops& forward, const BlockFlops& training) {
    const BlockSizes& at = block.sizes;
    std::string words;
    if (forward.attention > 0) {
        words = text("Attention between tokens (", block.attention.symbols, ") is ",
                     share_text(forward.attention, forward.all()), " of one ", at.name, "'s forward pass");
        if (at.causal && !at.cross)
            words += "; with the causal mask it is half of 4·s·h, because a token sees those before it";
        words += text(". Its backward pass computes scores again, so training takes ",
                      fixed(training.attention / forward.attention, 1), " times its FLOPs, not 3. ");
    }
    words += text("Norms, activations and other elementwise work, which the formula does not count, are ",
                  share_text(forward.others, forward.all()), " of the forward pass.");
    const double beyond = forward.products - block.products.value;
    if (beyond > 1e-6 * block.products.value)
        words += text(" Products have ", share_text(beyond, block.products.value),
                      " more FLOPs than the formula says: those of ",
                      forward.attention > 0 ? "further maps." : "attention, which consists of products.");
    return words;
}

std::string kind_sentence(const AttentionConfig& attention) {
    const std::string kind = attention.kind_name();
    if (kind == "full") return "";
    return text("The formulas are those of full attention. The model's is ", kind,
                attention.kind().hide ? " attention, in which a token sees fewer others." : " attention.");
}

std::string kept_sentence(const BlockFormulas& block, const TrainerConfig& config) {
    const BlockSizes& at = block.sizes;
    if (config.recompute) return text("With --recompute one ", at.name, " keeps only its input, in fp32.");
    std::string words = text("One ", at.name, " keeps for the backward pass: two residuals");
    if (at.cross) words = text("One ", at.name, " keeps for the backward pass: three residuals");
    words += ", the norms' outputs, queries, keys, values and attention's results, and ";
    words += at.inner_maps == 3 ? "the three wide tensors of the gated feed-forward"
                                : "the two wide tensors of the feed-forward";
    words +=
        "; not the maps of attention, which are computed again. Small numbers for each row, which the formula does not "
        "count, are the norms' statistics and the logarithm of each head's sum.";
    if (block.kept.symbols.ends_with(" = 64·h"))
        words += " Korthikanti et al. (2022) count 34·h bytes in 16 bits, with masks of dropout, and 5·a·s for scores.";
    if (config.activations != Format::f32) words += " Residuals stay in fp32, the other tensors have 16 bits.";
    return words;
}

}  // namespace vkf
