#include "apps/train/sequence_options.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "apps/cli/command.h"
#include "apps/model.h"
#include "base/error.h"
#include "models/data/sequences/text_tokens.h"

namespace vkf {

SequenceRunOptions::SequenceRunOptions(const Family& family) : StepRunOptions(family) {
    batch_size = 32;
    max_iters = 5000;
    eval_interval = 500;
    schedule.learning_rate = 1e-4;
    schedule.min_lr = 0;
    schedule.warmup_iters = 500;
    schedule.lr_decay_iters = 5000;
    trainer.dropout = 0.1f;
    trainer.optimizer.beta2 = 0.999;
    trainer.optimizer.weight_decay = 0.01;
}

void SequenceRunOptions::declare(cli::Command& app) {
    path(app, "--data", data,
         "directory with train.tsv, val.tsv or .jsonl files, or with folders train/CLASS of texts; or one file");
    option(app, "--label-fields", label_fields, "names of the fields of a .jsonl file's objects, as TEXT,LABEL",
           words());
    choice(app, "--tokens", tokens, "tokens of the texts: words between white space, or bytes", {"words", "bytes"});
    keep_if([this] { return tokenizer.empty() && init_from.empty(); });
    effective_if([this] { return tokenizer.empty(); }, "beside --tokenizer");
    path(app, "--tokenizer", tokenizer, "tokenizer of the texts instead (file or directory)");
    declare_model(app);
    option(app, "--block-size", block_size, "most tokens of a text; the rest of longer texts is left out",
           whole(2, 10'000'000));
    option(app, "--buckets", buckets, "most shapes of batches: texts of similar length are padded to a common one",
           whole(1, 64));
    declare_steps(app);
    declare_run(app);
    declare_steps_after_run();
}

void SequenceRunOptions::load_origin(const Common& common) {
    if (origin().empty()) return;
    const std::string file = read_origin(common);
    const std::optional<SequenceModel> begun = resume ? std::nullopt : open_pretrained({init_from, {}, false}, model);
    const ModelConfig there =
        begun ? begun->config : open_untokenized_sequence_model(std::filesystem::path(origin()), false).config;
    adopt(there, file);
    const Size context = there.size(Dimension::context);
    require(!given("--block-size") || block_size <= context, origin_of("--block-size"), " is ", block_size, ", but ",
            file, " says ", context.key, " ", context.value, ": wanted at most that");
    block_size = std::min(block_size, context.value);
    for (const char* option : {"--tokens", "--tokenizer"})
        require(resume || !on_command_line(option), option, " has no effect on a model that is there already");
    note_changes(common);
}

void SequenceRunOptions::check() {
    label_keys(label_fields);
    check_steps();
    check_run((max_iters + eval_interval - 1) / eval_interval);
}

SavedTokenizer SequenceRunOptions::tokenizer_for(std::span<const std::string> texts) const {
    if (!tokenizer.empty()) return load_tokenizer(tokenizer);
    return tokens == "bytes" ? byte_tokenizer() : word_tokenizer(texts);
}

ModelConfig SequenceRunOptions::fresh_model(std::int64_t vocabulary, std::vector<std::string> classes) const {
    ModelConfig made = model;
    if (made.size(Dimension::vocab_size) == 0) made.set(Dimension::vocab_size, vocabulary);
    made.set(Dimension::context, block_size);
    made.set(Dimension::classes, std::ssize(classes));
    made.set_class_names(std::move(classes));
    set_attention(made);
    return made;
}

}  // namespace vkf
