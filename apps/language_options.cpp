#include "apps/language_options.h"

#include <algorithm>

#include "base/error.h"
#include "models/data/dataset.h"
#include "models/files/config_json.h"

namespace vkf {

void LanguageRunOptions::declare(CLI::App& app) {
    path(app, "--data", data, "directory with train.bin and val.bin, a token file, or text (file or directory)");
    choice(app, "--order", order, "order of the training windows", {"random", "sequential"});
    declare_model(app);
    option(app, "--block-size", block_size, "tokens in a sequence; a model that is there limits it",
           whole(1, 10'000'000));
    option(app, "--max-iters", max_iters, "steps", whole(0, most_steps));
    choice(app, "--schedule", schedule_kind,
           "cosine: from the warm-up to the decay's end; trapezoid: a line over the last --warmdown-iters",
           {"cosine", "trapezoid"});
    option(app, "--warmdown-iters", schedule.warmdown_iters, "steps of the trapezoid's descent", whole(0, most_steps));
    keep_if([this] { return schedule_kind == "trapezoid"; });
    option(app, "--warmup-iters", schedule.warmup_iters, "steps of linear warm-up", whole(0, most_steps));
    option(app, "--lr-decay-iters", schedule.lr_decay_iters, "step at which the decay ends", whole(0, most_steps));
    option(app, "--eval-interval", eval_interval, "steps between evaluations; each writes a checkpoint",
           whole(1, most_steps));
    option(app, "--eval-iters", eval_iters, "micro-batches per split in an evaluation", whole(1, most_steps));
    declare_run(app);
}

void LanguageRunOptions::take_origin(const Common& common) {
    if (origin().empty()) return;
    const std::string file = read_origin(common);
    const ModelConfig there = read_config_json(file);
    adopt(there, file);
    const Size context = there.size(Dimension::context);
    require(!given("--block-size") || block_size <= context, origin_of("--block-size"), " is ", block_size, ", but ",
            file, " says ", context.key, " ", context.value, ": wanted at most that");
    block_size = std::min(block_size, context.value);
    tell_changes(common);
}

void LanguageRunOptions::check() {
    const bool trapezoid = schedule_kind == "trapezoid";
    schedule.kind = trapezoid ? Schedule::Kind::trapezoid : Schedule::Kind::cosine;
    require_effect("--warmdown-iters", trapezoid, "on --schedule cosine, wanted --schedule trapezoid with it");
    const std::int64_t warmdown = trapezoid ? schedule.warmdown_iters : 0;
    require(schedule.lr_decay_iters >= schedule.warmup_iters + warmdown, "--lr-decay-iters ", schedule.lr_decay_iters,
            warmdown ? text(" is less than --warmdown-iters ", warmdown, " after") : " is before",
            " the end of --warmup-iters ", schedule.warmup_iters);
    check_run((max_iters + eval_interval - 1) / eval_interval);
    require_effect("--warmup-iters", schedule.decay_lr || schedule.warmup_iters == 0, "beside --no-decay-lr");
    require_effect("--lr-decay-iters", schedule.decay_lr, "beside --no-decay-lr");
    require_effect("--schedule", schedule.decay_lr, "beside --no-decay-lr");
}

ModelConfig LanguageRunOptions::fresh_model(std::int64_t data_vocabulary) const {
    ModelConfig made = model;
    if (made.size(Dimension::vocab_size) == 0) made.set(Dimension::vocab_size, data_vocabulary);
    made.set(Dimension::context, block_size);
    made.attention() = attention_config();
    return made;
}

}  // namespace vkf
