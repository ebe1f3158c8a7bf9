// Translation token by token: with cached keys and values as without, alone as in a batch, one beam as several.

#include "models/translation/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "device_fixture.h"
#include "golden.h"
#include "models/families/marian.h"
#include "models/families/rnn_encoder_decoder.h"
#include "models/files/config_json.h"
#include "models/files/weights.h"
#include "program/program.h"
#include "scratch.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

constexpr std::int64_t LONGEST = 12;

MarianConfig tiny(const std::string& variant = "standard", bool normalize_before = false) {
    MarianConfig c;
    c.vocab_size = 23;
    c.max_position_embeddings = 40;
    c.d_model = 24;
    c.encoder_layers = 2;
    c.decoder_layers = 2;
    c.encoder_attention_heads = 3;
    c.decoder_attention_heads = 2;
    c.encoder_ffn_dim = 40;
    c.decoder_ffn_dim = 36;
    c.scale_embedding = true;
    c.normalize_before = normalize_before;
    c.decoder_start_token_id = c.pad_token_id = 22;
    c.eos_token_id = 0;
    c.attention = attention_of(variant, 3.0f);
    return c;
}

RnnEncoderDecoderConfig recurrent(Cell cell, AttentionScore score, bool input_feeding) {
    RnnEncoderDecoderConfig c;
    c.vocab_size = 23;
    c.context_length = 40;
    c.hidden_size = 18;
    c.num_layers = 2;
    c.cell = cell;
    c.bidirectional = cell != Cell::rnn;
    c.attention_score = score;
    c.score_rank = score == AttentionScore::low_rank || score == AttentionScore::additive ? 7 : 0;
    c.input_feeding = input_feeding;
    c.decoder_start_token_id = 22;
    c.eos_token_id = 0;
    return c;
}

struct NamedModel {
    std::string name;
    ModelConfig config;
};

std::vector<NamedModel> models() {
    std::vector<NamedModel> made{
        {"rnn", recurrent(Cell::rnn, AttentionScore::dot, false)},
        {"lstm", recurrent(Cell::lstm, AttentionScore::general, false)},
        {"lstm_fed", recurrent(Cell::lstm, AttentionScore::low_rank, true)},
        {"gru_fed", recurrent(Cell::gru, AttentionScore::additive, true)},
    };
    for (const std::string& variant : variant_names()) {
        made.push_back({variant, tiny(variant, variant == "belief")});
        std::ranges::replace(made.back().name, '-', '_');
    }
    return made;
}

/// Weights so large that attention is uneven.
void fill(const Parameters& parameters, State& state) {
    for (const Parameter& parameter : parameters.list()) {
        std::vector<float> values = initial_values(parameter, 5);
        if (parameter.init.kind != Init::Kind::constant)
            for (float& value : values) value *= 3;
        state.write(parameter.name, values);
    }
}

std::vector<std::vector<std::int32_t>> sources(std::size_t count) {
    Random random(9, "sources");
    std::vector<std::vector<std::int32_t>> made(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t t = 0; t < 1 + 3 * i % 11; ++t)
            made[i].push_back(1 + static_cast<std::int32_t>(random.below(21)));
        made[i].push_back(0);
    }
    return made;
}

TranslatorOptions options_of(std::int64_t at_once, std::int64_t beams) {
    TranslatorOptions made;
    made.shape = {.sources = at_once, .beams = beams, .source = 14, .target = LONGEST};
    made.search.vocabulary = 22;
    return made;
}

/// Logits after these target tokens, by the whole graph without a cache.
std::vector<float> logits_without_cache(const ModelConfig& config, const std::vector<std::int32_t>& source,
                                        const std::vector<std::int32_t>& target) {
    Graph graph;
    Parameters parameters;
    const auto sentences = [&](const char* tokens, const char* lengths, std::int64_t length) -> Sentences {
        return {graph.input(tokens, {DType::i32, {1, length}}), graph.input(lengths, {DType::i32, {1}})};
    };
    const Sentences from = sentences("source_tokens", "source_lengths", std::ssize(source));
    const Sentences to = sentences("tokens", "target_lengths", std::ssize(target));
    graph.output("logits", translation_logits(Scope(graph, parameters), config, from, to));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    fill(parameters, state);
    program.write("source_tokens", source);
    program.write("source_lengths", std::vector{static_cast<std::int32_t>(source.size())});
    program.write("tokens", target);
    program.write("target_lengths", std::vector{static_cast<std::int32_t>(target.size())});
    program.run();
    const std::vector<float> all = program.read("logits");
    return {all.end() - 23, all.end()};
}

/// Hypothesis of a search whose logits come from whole graphs.
std::vector<Hypothesis> searched_without_cache(const ModelConfig& config, const std::vector<std::int32_t>& source,
                                               std::int64_t beams) {
    BeamSearch search({.beams = beams, .vocabulary = 22, .end = 0, .longest = LONGEST});
    std::vector<std::vector<std::int32_t>> rows{{22}};
    while (!search.done()) {
        std::vector<float> logits;
        for (const auto& row : rows) {
            const std::vector<float> next = logits_without_cache(config, source, row);
            logits.insert(logits.end(), next.begin(), next.end());
        }
        search.advance(logits);
        std::vector<std::vector<std::int32_t>> next;
        for (std::int64_t b = 0; b < search.open(); ++b) {
            next.push_back(rows[static_cast<std::size_t>(search.parent(b))]);
            next.back().push_back(search.token(b));
        }
        rows = next;
    }
    return search.best(beams);
}

std::vector<std::vector<Hypothesis>> translated(const ModelConfig& config, const TranslatorOptions& options,
                                                std::span<const std::vector<std::int32_t>> sources) {
    Translator translator(shared_device(), config, options);
    fill(translator.parameters(), translator.state());
    return translator.translate(sources, options.shape.beams);
}

void expect_equal(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].tokens, want[i].tokens) << "hypothesis " << i;
        EXPECT_NEAR(got[i].score, want[i].score, 2e-5) << "hypothesis " << i;
    }
}

class DeviceTranslator : public ::testing::TestWithParam<NamedModel> {};

TEST_P(DeviceTranslator, CachesGiveTheHypothesesOfWholeGraphs) {
    const ModelConfig& config = GetParam().config;
    const auto all = sources(3);
    const auto found = translated(config, options_of(3, 4), all);
    for (std::size_t i = 0; i < all.size(); ++i) expect_equal(found[i], searched_without_cache(config, all[i], 4));
}

TEST_P(DeviceTranslator, ABatchIsItsSourcesAlone) {
    const ModelConfig& config = GetParam().config;
    const auto all = sources(7);
    const auto together = translated(config, options_of(7, 3), all);
    for (std::size_t i = 0; i < all.size(); ++i)
        expect_equal(together[i], translated(config, options_of(1, 3), std::span(all).subspan(i, 1)).front());
}

/// A second batch does not see what the first has left in the caches.
TEST_P(DeviceTranslator, ABatchFollowsAnotherOne) {
    const ModelConfig& config = GetParam().config;
    const auto all = sources(6);
    Translator translator(shared_device(), config, options_of(3, 3));
    fill(translator.parameters(), translator.state());
    translator.translate(std::span(all).first(3), 3);
    const auto second = translator.translate(std::span(all).subspan(4), 3);  // one less than there is room for
    ASSERT_EQ(second.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i)
        expect_equal(second[i], translated(config, options_of(1, 3), std::span(all).subspan(4 + i, 1)).front());
}

INSTANTIATE_TEST_SUITE_P(Models, DeviceTranslator, ::testing::ValuesIn(models()),
                         [](const auto& model) { return model.param.name; });

TEST(DeviceTranslatorBatch, OneBeamIsGreedy) {
    const ModelConfig config = tiny();
    const auto all = sources(4);
    const auto found = translated(config, options_of(4, 1), all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<std::int32_t> tokens{22};
        while (std::ssize(tokens) <= LONGEST && (tokens.size() == 1 || tokens.back() != 0)) {
            const std::vector<float> logits = logits_without_cache(config, all[i], tokens);
            const auto best = std::max_element(logits.begin(), logits.begin() + 22);
            tokens.push_back(static_cast<std::int32_t>(best - logits.begin()));
        }
        EXPECT_EQ(found[i].front().tokens, (std::vector<std::int32_t>{tokens.begin() + 1, tokens.end()}));
    }
}

/// Searches of golden models, compared with an independent program that keeps no cache.
TEST(DeviceTranslatorBatch, FindsTheGoldenHypotheses) {
    for (const char* name : {"marian-standard", "marian-belief-star", "marian-vocabularies", "marian-tiny",
                             "recurrent-lstm-general", "recurrent-gru-additive", "recurrent-rnn-low-rank"}) {
        const std::filesystem::path folder = golden / name;
        const nlohmann::json wanted = read_json(folder / "beam.json");
        const ModelConfig config = read_config_json(folder / "config.json");
        for (const nlohmann::json& row : wanted.at("rows")) {
            const auto source = row.at("source").get<std::vector<std::int32_t>>();
            for (const bool greedy : {true, false}) {
                TranslatorOptions options;
                options.per_source = 0;
                options.more = row.at("max_length").get<std::int64_t>();
                options.shape = {.sources = 1,
                                 .beams = greedy ? 1 : wanted.at("beams").get<std::int64_t>(),
                                 .source = std::ssize(source),
                                 .target = options.more};
                options.search.vocabulary = translation_tokens(config).target_vocabulary;
                Translator translator(shared_device(), config, options);
                load_weights(folder / "model.safetensors", translator.parameters().list(), translator.state());
                const std::vector<Hypothesis> found =
                    translator.translate(std::span(&source, 1), options.shape.beams).front();
                if (greedy) {
                    EXPECT_EQ(found.front().tokens, row.at("greedy").get<std::vector<std::int32_t>>()) << name;
                    continue;
                }
                ASSERT_EQ(found.size(), row.at("beam").size()) << name;
                for (std::size_t i = 0; i < found.size(); ++i) {
                    const nlohmann::json& best = row.at("beam")[i];
                    EXPECT_EQ(found[i].tokens, best.at("tokens").get<std::vector<std::int32_t>>()) << name << ' ' << i;
                    EXPECT_NEAR(found[i].score, best.at("score").get<double>(), 2e-5) << name << ' ' << i;
                }
            }
        }
    }
}

TEST(DeviceTranslatorBatch, RefusesWhatItHasNoRoomFor) {
    Translator translator(shared_device(), tiny(), options_of(2, 2));
    EXPECT_NE(complaint([&] { translator.translate(sources(3), 1); }).find("there is room for 2"), std::string::npos);
    const std::vector<std::vector<std::int32_t>> one{std::vector<std::int32_t>(15, 1)};
    EXPECT_NE(complaint([&] { translator.translate(one, 1); }).find("15 tokens"), std::string::npos);
}

}  // namespace
}  // namespace vkf::test
