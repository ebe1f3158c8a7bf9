// vkformer eval on a translation model: loss and perplexity of targets, and on request BLEU and chrF2 of translations.

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/eval/model_evaluation.h"
#include "apps/eval/translation_scores.h"
#include "apps/generate/translate_lines.h"
#include "apps/inspect/facts.h"
#include "apps/model.h"
#include "base/error.h"
#include "models/data/pairs/pair_batches.h"
#include "models/train/token_feed.h"
#include "models/translation_model.h"
#include "program/compiled_graph.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

constexpr std::int64_t TOKENS_AT_ONCE = 4096;

ParallelText read_pairs(const EvalOptions& o) {
    require(o.data.empty() || o.source.empty(), "--data and --source exclude each other");
    require(o.source.empty() == o.target.empty(), "--source and --target belong together, and one is missing");
    if (!o.source.empty()) return read_parallel_files(o.source, o.target);
    return read_pair_file(o.data, pair_keys(o.fields));
}

/// Mean loss of all target tokens.
double mean_loss(Device& device, const Common& common, const EvalOptions& o, const TranslationModel& model,
                 const PairBatches& batches) {
    State state(device);
    Parameters parameters;
    std::vector<std::unique_ptr<CompiledGraph>> by_shape;
    for (const PairShape& shape : batches.shapes())
        by_shape.push_back(std::make_unique<CompiledGraph>(device, state, common.activations(), [&](Graph& graph) {
            graph.output("loss", translation_loss(Scope(graph, parameters), model.config, shape));
        }));
    model.load(parameters, state);
    Progress progress(common, "eval", "batches", static_cast<std::int64_t>(batches.count()));
    double sum = 0, tokens = 0;
    for (std::uint64_t i = 0; i < batches.count(); ++i) {
        stop_if_interrupted();
        Program& program = by_shape[batches.shape_of(i)]->program;
        write_batch(program, batches.at(i));
        program.run();
        const auto loss = static_cast<double>(program.read_scalar("loss"));
        if (!std::isfinite(loss)) require_finite(o, "loss", loss, program.find_non_finite());
        const auto count = static_cast<double>(batches.targets(i));
        sum += loss * count;
        tokens += count;
        progress.update(static_cast<std::int64_t>(i) + 1, text("loss ", fixed(sum / tokens, 4)));
    }
    return sum / tokens;
}

/// Pairs of a model in batches.
struct TranslationSubject {
    TranslationSubject(const Common& common, const EvalOptions& o, const TranslationModel& model, bool shuffled)
        : pairs(read_pairs(o)),
          tokens(translation_tokens(model.config)),
          encoded(pairs, *model.tokenizers.source, *model.tokenizers.target, tokens.end,
                  model.config.size(Dimension::context)),
          batches("eval", encoded, tokens.begin, {.tokens = room(), .seed = common.seed, .shuffled = shuffled}) {
        if (encoded.too_long() > 0)
            note(common, text(pairs.source_name, ": ", encoded.too_long(), " of ", pairs.source.size(),
                              " pairs have more than ", model.config.size(Dimension::context).value,
                              " tokens and are left out of the loss"));
    }
    TranslationSubject(const TranslationSubject&) = delete;

    /// Tokens of a batch, which has room for the longest pair.
    std::int64_t room() const {
        std::int64_t most = TOKENS_AT_ONCE;
        for (std::size_t i = 0; i < encoded.size(); ++i) most = std::max(most, encoded.length(i));
        return most;
    }

    ParallelText pairs;
    TranslationTokens tokens;
    SentencePairs encoded;
    PairBatches batches;
};

/// BLEU and chrF2 of translations of all sources, with their signatures.
nlohmann::ordered_json translation_scores(Device& device, const Common& common, const EvalOptions& o,
                                          const TranslationModel& model, const ParallelText& pairs) {
    TranslateOptions how = o.translate;
    how.take_defaults(common, model);
    if (o.batch_size > 0) how.batch_size = o.batch_size;
    const auto where = [&](std::size_t line) { return text(pairs.source_name, ": sentence ", line + 1); };
    const Translations made = translate_lines(device, common, model, pairs.source, how, 1, where);
    TranslationScores scores(1);
    for (std::size_t i = 0; i < made.lines.size(); ++i)
        scores.add(made.lines[i].empty() ? "" : made.lines[i].front().text, {pairs.target[i]});
    return scores.document();
}

}  // namespace

ModelEvaluation evaluation_of_translation(const Common& common, const EvalOptions& o) {
    require(o.batch_size == 0, "--batch-size has no effect on pairs of sentences: a batch has as many as ",
            TOKENS_AT_ONCE, " tokens");
    require(o.split.empty(), "--split has no effect on pairs of sentences, which are one set");
    const auto model = std::make_shared<const TranslationModel>(open_translation_model({o.model, o.base, o.verify}));
    const auto subject = std::make_shared<const TranslationSubject>(common, o, *model, true);
    ModelEvaluation made;
    made.model = model;
    made.side_files = model->side_files();
    for (const PairShape& shape : subject->batches.shapes())
        made.loss.shapes.emplace_back(
            [=](const Scope& scope) { return translation_loss(scope, model->config, shape); });
    made.batches = subject->batches.count();
    made.loss.shape_of = [=](std::uint64_t number) { return subject->batches.shape_of(number); };
    made.feed = [=](Program& program, std::uint64_t number) { write_batch(program, subject->batches.at(number)); };
    made.loss.weight_of = [=](std::uint64_t number) { return static_cast<double>(subject->batches.targets(number)); };
    made.tokens = [=](std::uint64_t number, bool source) {
        const PairShape& shape = subject->batches.shapes()[subject->batches.shape_of(number)];
        const PairTokenizers& tokenizers = model->tokenizers;
        return TokenRows{source ? shape.source : shape.target,
                         subject->batches.at(number).at(source ? "source_tokens" : "tokens"),
                         (source ? tokenizers.source : tokenizers.target).tokenizer.get(), subject->tokens.end};
    };
    return made;
}

void eval_translation(const Common& common, const EvalOptions& o) {
    require(o.split.empty(), "--split has no effect on pairs of sentences, which are one set");
    const TranslationModel model = open_translation_model({o.model, o.base, o.verify});
    const TranslationSubject subject(common, o, model, false);
    catch_interrupts();
    with_device(common, [&](Device& device) {
        // First, because a sentence that cannot be translated is an error.
        nlohmann::ordered_json scores = nlohmann::ordered_json::object();
        if (o.bleu) scores = translation_scores(device, common, o, model, subject.pairs);
        const double loss = mean_loss(device, common, o, model, subject.batches);
        nlohmann::ordered_json facts{{"loss", loss},
                                     {"perplexity", std::exp(loss)},
                                     {"target_tokens", subject.encoded.target_tokens()},
                                     {"pairs", subject.encoded.size()}};
        facts.update(scores);
        print_facts(common, facts);
    });
}

}  // namespace vkf
