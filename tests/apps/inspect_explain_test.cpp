// Formulas of `inspect --explain` against the graphs of small models of every family.

#include "apps/inspect/inspect_explain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "apps/inspect/explain_differences.h"
#include "base/error.h"
#include "inspect_models.h"
#include "models/families/rnn_encoder_decoder.h"

namespace vkf::test {
namespace {

ModelSizes sizes_of(const InspectedModel& model) {
    return model.config.family().accounting->sizes(model.config, model.sizes.length);
}

/// Tokens of a batch that pass through a stack, times its blocks.
double passes(const InspectedModel& model, const BlockSizes& block) {
    return static_cast<double>(model.sizes.rows * block.length * block.blocks);
}

Explanation explanation(const InspectedModel& model) {
    const ExactModel exact(model);
    return explain(model, {exact.parameters, exact.forward, exact.step,
                           analyse_generation(model, [](const Graph&) { return DeviceTraits(); })});
}

const ExplainedQuantity& quantity(const Explanation& explanation, const std::string& name) {
    const auto found = std::ranges::find(explanation.quantities, name, &ExplainedQuantity::quantity);
    if (found == explanation.quantities.end()) throw std::runtime_error("no quantity " + name);
    return *found;
}

TEST(HostExplain, FormulasAreThoseOfPapers) {
    BlockSizes gpt2{
        .blocks = 12, .width = 768, .heads = 12, .queries = 768, .keys = 768, .inner = 3072, .length = 1024};
    gpt2.causal = true;
    const BlockFormulas made = formulas(gpt2);
    EXPECT_EQ(made.parameters.symbols, "4·h² + 2·h·f = 12·h²");
    EXPECT_EQ(made.all_parameters.symbols, "l·(4·h² + 2·h·f) = 12·l·h²");
    EXPECT_EQ(made.all_parameters.value, 84934656);
    EXPECT_EQ(made.flops.symbols, "8·h² + 4·h·f + 2·s·h = 24·h² + 2·s·h");
    EXPECT_EQ(made.kept.symbols, "32·h + 8·f = 64·h");
    EXPECT_EQ(made.kept_in_16.symbols, "20·h + 4·f = 36·h");
    EXPECT_EQ(made.cache.symbols, "2·h");
    gpt2.causal = false;
    EXPECT_EQ(formulas(gpt2).attention.symbols, "4·s·h");
    const BlockSizes grouped{
        .blocks = 30, .width = 576, .heads = 9, .queries = 576, .keys = 192, .inner = 1536, .inner_maps = 3};
    EXPECT_EQ(formulas(grouped).parameters.symbols, "2·h² + 2·h·k + 3·h·f");
    EXPECT_EQ(formulas(grouped).parameters.value, 2 * 576 * 576 + 2 * 576 * 192 + 3 * 576 * 1536);
}

TEST(HostExplain, ParametersOfMapsAreThoseOfTheFormula) {
    for (const InspectedModel& model : inspected_models()) {
        const ExactModel exact(model);
        for (const BlockSizes& block : sizes_of(model).blocks) {
            const BlockParameters found = block_parameters(exact.parameters, block.path);
            EXPECT_EQ(static_cast<double>(found.maps), formulas(block).all_parameters.value)
                << model.config.family().title << ", " << block.name;
            EXPECT_EQ(found.second_maps, 0);
        }
    }
}

TEST(HostExplain, AllParametersOfTheModelHaveAReason) {
    for (const InspectedModel& model : inspected_models()) {
        const ExactModel exact(model);
        const ModelSizes sizes = sizes_of(model);
        std::int64_t counted = 0;
        for (const BlockSizes& block : sizes.blocks) counted += block_parameters(exact.parameters, block.path).all();
        for (const ParameterTable& table : sizes.tables) counted += parameters_in(exact.parameters, table.path);
        // Norms, biases and other vectors are outside of both.
        EXPECT_LE(counted, exact.parameters.count()) << model.config.family().title;
        EXPECT_GE(counted + 10 * sizes.blocks.front().width, exact.parameters.count()) << model.config.family().title;
    }
}

TEST(HostExplain, FlopsOfProductsAndAttentionAreThoseOfTheFormula) {
    for (const InspectedModel& model : inspected_models()) {
        const ExactModel exact(model);
        for (const BlockSizes& block : sizes_of(model).blocks) {
            const std::string name = text(model.config.family().title, ", ", block.name);
            const BlockFlops found = block_flops(exact.forward, block.path).over(passes(model, block));
            const BlockFormulas expected = formulas(block);
            EXPECT_DOUBLE_EQ(found.products, expected.products.value) << name;
            // Half of the pairs under a causal mask, and half of the diagonal: s + 1 instead of s.
            const double diagonal = block.causal ? 2.0 * static_cast<double>(block.queries) : 0;
            EXPECT_DOUBLE_EQ(found.attention, expected.attention.value + diagonal) << name;
        }
    }
}

/// Bytes that the formula does not count, for one token in one block: the norms' statistics and attention's sums.
double small_tensors(const BlockSizes& block, bool rms) {
    const double attentions = block.cross ? 2 : 1;
    return 4 * (attentions * static_cast<double>(block.heads) + (attentions + 1) * (rms ? 1 : 2));
}

TEST(HostExplain, KeptActivationsAreThoseOfTheFormula) {
    for (const bool mixed : {false, true})
        for (InspectedModel model : inspected_models()) {
            const std::string_view type = model.config.family().model_type;
            if (type == "nano-gpt2") continue;  // keeps copies
            if (mixed) model.trainer.activations = Format::bf16;
            const ExactModel exact(model);
            for (const BlockSizes& block : sizes_of(model).blocks) {
                const BlockFormulas expected = formulas(block);
                const double found = kept_bytes(exact.step, block.path) / passes(model, block);
                const double counted =
                    (mixed ? expected.kept_in_16 : expected.kept).value + small_tensors(block, type == "llama");
                // The loss makes the gradient of the decoder's last norm at once.
                const bool last_norm = block.cross && block.post_norm;
                const double lacking =
                    last_norm ? 4.0 * static_cast<double>(block.width) / static_cast<double>(block.blocks) : 0;
                const double slack = mixed && block.post_norm ? 8.0 * static_cast<double>(block.width) : 0;
                EXPECT_NEAR(found, counted - lacking, slack) << type << ", " << block.name << (mixed ? ", mixed" : "");
            }
        }
}

TEST(HostExplain, SecondOutputMapsAreSetAside) {
    const InspectedModel model = inspected_gpt2("belief-star");
    const ExactModel exact(model);
    const BlockParameters found = block_parameters(exact.parameters, "h");
    EXPECT_EQ(found.maps, 3 * 12 * 48 * 48);
    EXPECT_EQ(found.second_maps, 3 * 48 * 48);
    const Explanation made = explanation(model);
    EXPECT_NE(made.differences.front().find("2304 in the second output map of belief-star"), std::string::npos)
        << made.differences.front();
}

TEST(HostExplain, OtherKindsOfAttentionAreNamed) {
    const auto differences = [](const char* kind) {
        const InspectedModel model = inspected_gpt2("belief", kind);
        std::string all;
        for (const std::string& sentence : explanation(model).differences) all += sentence + "\n";
        EXPECT_EQ(all.find("nan times"), std::string::npos) << all;
        return all;
    };
    EXPECT_EQ(differences("full").find("The formulas are those of full attention"), std::string::npos);
    EXPECT_NE(differences("window").find("The model's is window attention, in which a token sees fewer others."),
              std::string::npos);
    const std::string linear = differences("linear");
    EXPECT_NE(linear.find("The model's is linear attention."), std::string::npos);
    EXPECT_NE(linear.find("those of attention, which consists of products."), std::string::npos);
    EXPECT_EQ(linear.find("Attention between tokens"), std::string::npos);
}

TEST(HostExplain, StatesCacheAndTotals) {
    const Explanation made = explanation(inspected_gpt2());
    const double parameters = quantity(made, "all parameters").exact;
    EXPECT_EQ(quantity(made, "weights").by_formula, 4 * parameters);
    for (const char* name : {"weights", "gradients", "states of adamw", "all of training but activations"})
        EXPECT_NEAR(quantity(made, name).exact, quantity(made, name).by_formula, 0.02 * quantity(made, name).exact)
            << name;
    EXPECT_EQ(quantity(made, "all of training but activations").formula, "16·N");
    EXPECT_EQ(quantity(made, "cache of one text, s = 32").by_formula, 2 * 3 * 32 * 48 * 4);
    EXPECT_EQ(quantity(made, "cache of one text, s = 32").exact, 2 * 3 * 32 * 48 * 4);
    EXPECT_EQ(quantity(made, "all parameters").formula, "12·l·h² + v·h + s·h");
    const double six = 6 * (3 * 12 * 48 * 48 + 90 * 48), attention = 12 * 3 * 32 * 48;
    EXPECT_EQ(quantity(made, "the same as PaLM and nanoGPT count").by_formula, six + attention);
}

TEST(HostExplain, CachesOfGroupedHeadsAndOfSources) {
    EXPECT_EQ(quantity(explanation(inspected_llama()), "cache of one text, s = 32").exact, 2 * 3 * 32 * 16 * 4);
    EXPECT_EQ(quantity(explanation(inspected_llama()), "cache of one text, s = 32").by_formula, 2 * 3 * 32 * 16 * 4);
    const Explanation marian = explanation(inspected_marian());
    EXPECT_EQ(quantity(marian, "cache of one text, s = 32").by_formula, 4 * 2 * 32 * 48 * 4);
    EXPECT_EQ(quantity(marian, "cache of one text, s = 32").exact, 4 * 2 * 32 * 48 * 4);
}

TEST(HostExplain, AccumulationAndRecomputation) {
    InspectedModel model = inspected_gpt2();
    const double once = quantity(explanation(model), "FLOPs of a token in one block, training").exact;
    model.trainer.gradient_accumulation_steps = 3;
    const Explanation accumulated = explanation(model);
    EXPECT_DOUBLE_EQ(quantity(accumulated, "FLOPs of a token in one block, training").exact, once);
    EXPECT_EQ(quantity(accumulated, "all of training but activations").formula, "20·N");
    EXPECT_NEAR(quantity(accumulated, "states of adamw").exact, quantity(accumulated, "states of adamw").by_formula,
                4096);
    model.trainer.recompute = true;
    const Explanation recomputed = explanation(model);
    EXPECT_EQ(quantity(recomputed, "kept for backward, of a token in one block").exact, 4 * 48);
    EXPECT_GT(quantity(recomputed, "FLOPs of a token in one block, training").exact, 1.2 * once);
}

TEST(HostExplain, RefusesFamiliesWithoutFormulas) {
    RnnEncoderDecoderConfig c;
    c.vocab_size = 90;
    try {
        explanation(inspected_translation(c, {.rows = 2, .length = 8}));
        FAIL() << "recurrent layers have other formulas";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("--explain has no formulas for translate-rnn"), std::string::npos);
    }
}

}  // namespace
}  // namespace vkf::test
