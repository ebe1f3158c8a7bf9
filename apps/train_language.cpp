// vkformer train, of a language model: data, model and evaluation of a language model; the loop is train_loop.cpp's.

#include <memory>
#include <optional>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/language_options.h"
#include "apps/model.h"
#include "apps/train_loop.h"
#include "apps/train_memory.h"
#include "base/error.h"
#include "models/data/dataset.h"
#include "models/files/config_json.h"
#include "models/files/held_files.h"
#include "models/language_model.h"
#include "models/train/token_feed.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

/// Where a run's data comes from: batches by number for the two splits, and the same ones at every evaluation.
struct Splits {
    Batches train, eval_train, eval_val;

    Splits(const TokenDataset& data, const LanguageRunOptions& o)
        : train("train", data.train(), options(o, order_named(o.order))),
          eval_train("eval-train", data.train(), options(o, Order::random)),
          eval_val("eval-val", data.val(), options(o, Order::random)) {}

    static Batches::Options options(const LanguageRunOptions& o, Order order) {
        return {order, static_cast<std::size_t>(o.batch_size), static_cast<std::size_t>(o.block_size), o.seed};
    }
};

/// The model to train: the one to start from, or a fresh one for the data's vocabulary.
ModelConfig model_config(const LanguageRunOptions& o, const std::optional<LanguageModel>& origin,
                         const TokenDataset& data) {
    const auto vocabulary = static_cast<std::int64_t>(data.vocabulary_size());
    const ModelConfig c = origin ? origin->config : o.fresh_model(vocabulary);
    validate(c);
    const Size context = c.size(Dimension::context), tokens = c.size(Dimension::vocab_size);
    require(o.block_size <= context, "--block-size ", o.block_size, " is more than the model's ", context.key, " ",
            context.value);
    require(vocabulary <= tokens, "the data has tokens up to ", vocabulary - 1, ", the model's vocabulary is ",
            tokens.value);
    return c;
}

Evaluation evaluate(Trainer& trainer, const Splits& splits, std::int64_t batches, const Watch& watch) {
    const double train = trainer.evaluate(watch(feed_of(splits.eval_train)), 0, batches);
    const double val = trainer.evaluate(watch(feed_of(splits.eval_val)), 0, batches);
    return {{{"train_loss", train}, {"val_loss", val}},
            text("train loss ", fixed(train, 4), ", val loss ", fixed(val, 4)),
            val};
}

void train_language(const LanguageRunOptions& o, const Common& common) {
    std::optional<RunDirectory> run;
    if (o.resume)
        run = RunDirectory::reopen(o.out_dir);
    else
        claim_directory(o.out_dir, o.overwrite, o.data);  // which create() does, before the long part
    require(!o.data.empty(), "--data is missing: a directory with train.bin and val.bin, a token file, or text");
    std::optional<LanguageModel> origin;
    if (!o.origin().empty()) origin = open_language_model(o.origin());
    const TokenDataset data = origin ? open_data(*origin, o.data) : TokenDataset::open(o.data);
    const std::optional<Characters>& characters = origin ? origin->characters : data.characters();
    const Splits splits(data, o);
    const ModelConfig model = model_config(o, origin, data);
    with_device(common, [&](Device& device) {
        const auto loss = [&](std::int64_t rows, bool) {
            return [&, rows](const Scope& scope) { return language_loss(scope, model, rows, o.block_size); };
        };
        require_memory(device, o, loss);
        Trainer trainer(device, loss(o.batch_size, false), loss(o.batch_size, true), o.trainer);
        RunProgress at;
        if (run)
            at = run->restore(trainer);
        else if (origin)
            origin->load(trainer.parameters(), trainer.state());
        if (!run) trainer.begin_averages();
        if (!run) run = RunDirectory::create(o.out_dir, o.overwrite, o.data);
        ModelFiles files{{"config.json", config_json_text(model)}};
        if (characters) files["chars.json"] = characters->json();
        run->describe(std::move(files), o.toml());
        note(common, text(trainer.parameters().count(), " parameters, ", model.attention().variant(), " attention, on ",
                          device.info().name, "; ", data.train().size(), " tokens"));
        const TrainLoop loop{
            .steps = o.max_iters,
            .steps_option = "--max-iters",
            .eval_interval = o.eval_interval,
            .log_interval = o.log_interval,
            .items = "tokens",
            .items_per_step = static_cast<double>(o.batch_size * o.block_size * o.trainer.gradient_accumulation_steps),
            .learning_rate = [&](std::int64_t step) { return o.schedule.at(step); },
            .feed = feed_of(splits.train),
            .eval_batches = 2 * o.eval_iters,
            .evaluate = [&](const Watch& watch) { return evaluate(trainer, splits, o.eval_iters, watch); }};
        at = run_training(trainer, *run, loop, at, common);
        if (common.json) print_json({{"out_dir", o.out_dir}, {"steps", o.max_iters}, {"best_val_loss", at.best}});
    });
}

}  // namespace

void add_train_language(CLI::App& train, Common& common, const Family& family) {
    const std::string command(family.command);
    CLI::App* app = train.add_subcommand(command, text("Train a ", family.title, " on text or token files"));
    add_common(*app, common);
    auto options = std::make_shared<LanguageRunOptions>(family);
    options->declare(*app);
    app->footer(train_examples(family, "--data input.txt"));
    app->callback([options, &common] {
        options->settle(common);
        options->take_origin(common);
        options->check();
        train_language(*options, common);
    });
}

}  // namespace vkf
