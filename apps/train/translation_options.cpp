#include "apps/train/translation_options.h"

#include "apps/cli/command.h"
#include "base/error.h"
#include "models/tokenizers/load_tokenizer.h"
#include "models/translation_model.h"

namespace vkf {

ParallelText PairFiles::read(const PairKeys& keys) const {
    return pairs.empty() ? read_parallel_files(source, target) : read_pair_file(pairs, keys);
}

TranslationRunOptions::TranslationRunOptions(const Family& family) : StepRunOptions(family) {
    batch_size = 4096;
    batch_option = {"--batch-tokens",
                    "tokens in a micro-batch: its rows, times the longest sentence that a row has room for",
                    100'000'000};
    // Defaults are those of Vaswani et al., 2017, §5.3 and §5.4, with 4000 warm-up steps.
    max_iters = 100'000;
    eval_interval = 1000;
    schedule_kind = "inverse-sqrt";
    schedule.warmup_iters = 4000;
    schedule.learning_rate = 7e-4;
    trainer.dropout = 0.1f;
    trainer.optimizer.beta2 = 0.98;
    trainer.optimizer.weight_decay = 0;
    trainer.optimizer.grad_clip = 0;
    loss_terms.label_smoothing = 0.1f;
}

void TranslationRunOptions::declare(cli::Command& app) {
    path(app, "--source", training.source, "sentences to translate, one on a line");
    path(app, "--target", training.target, "their translations, line by line");
    path(app, "--pairs", training.pairs, "instead of both: .tsv with two columns, or .jsonl with two fields");
    path(app, "--val-source", validation.source, "sentences to choose the best model by [the last 5 % of the others]");
    path(app, "--val-target", validation.target, "their translations");
    path(app, "--val-pairs", validation.pairs, "instead of both: .tsv or .jsonl");
    option(app, "--fields", fields, "names of the fields of a .jsonl file's objects, as SOURCE,TARGET", words());
    keep_if([this] { return training.pairs.ends_with(".jsonl") || validation.pairs.ends_with(".jsonl"); });
    path(app, "--tokenizer", tokenizer, "tokenizer of both sides (file or directory) [the texts' characters]");
    path(app, "--source-tokenizer", source_tokenizer, "tokenizer of sources, with --target-tokenizer");
    path(app, "--target-tokenizer", target_tokenizer, "tokenizer of targets, with --source-tokenizer");
    declare_model(app);
    option(app, "--buckets", buckets, "most shapes of batches: pairs of similar length are padded to a common one",
           whole(1, 64));
    declare_steps(app);
    declare_run(app);
    declare_steps_after_run();
}

void TranslationRunOptions::load_origin(const Common& common) {
    if (origin().empty()) return;
    const std::string file = read_origin(common);
    adopt(open_untokenized_translation_model(std::filesystem::path(origin()), false).config, file);
    for (const char* option : {"--tokenizer", "--source-tokenizer", "--target-tokenizer"})
        require(resume || !given(option), origin_of(option), " has no effect on a model that is there already");
    note_changes(common);
}

void TranslationRunOptions::check_data() const {
    const auto complete = [](const PairFiles& files, const char* source, const char* target, const char* pairs) {
        require(files.pairs.empty() || (files.source.empty() && files.target.empty()), pairs, " and ", source, " or ",
                target, " exclude each other");
        require(files.source.empty() == files.target.empty(), files.source.empty() ? source : target,
                " is missing: ", files.source.empty() ? target : source, " has translations of its lines");
    };
    complete(training, "--source", "--target", "--pairs");
    complete(validation, "--val-source", "--val-target", "--val-pairs");
    require(training.given(), "--source and --target, or --pairs, are missing: the sentences to learn from");
    pair_keys(fields);
}

void TranslationRunOptions::check() {
    require(source_tokenizer.empty() == target_tokenizer.empty(),
            source_tokenizer.empty() ? "--target-tokenizer" : "--source-tokenizer", " is given, wanted ",
            source_tokenizer.empty() ? "--source-tokenizer" : "--target-tokenizer", " too");
    require(tokenizer.empty() || source_tokenizer.empty(), "--tokenizer and --source-tokenizer exclude each other");
    require(source_tokenizer.empty() || !on_command_line("--share-embeddings"),
            "--share-embeddings is for one tokenizer, and there is one for each side");
    check_steps();
    check_run((max_iters + eval_interval - 1) / eval_interval);
}

std::optional<PairTokenizers> TranslationRunOptions::given_tokenizers() const {
    if (!source_tokenizer.empty())
        return PairTokenizers{load_tokenizer(source_tokenizer), load_tokenizer(target_tokenizer)};
    if (tokenizer.empty()) return {};
    if (std::filesystem::is_directory(tokenizer))
        if (std::optional<PairTokenizers> found = find_pair_tokenizers(tokenizer)) return found;
    const SavedTokenizer both = load_tokenizer(tokenizer);
    return PairTokenizers{both, both};
}

ModelConfig TranslationRunOptions::fresh_model(const TranslationTokens& tokens) const {
    ModelConfig made = model;
    std::get<TranslationGraph>(family().graph).set_tokens(made, tokens);
    set_attention(made);
    return made;
}

}  // namespace vkf
