#include "apps/train/step_options.h"

#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/named_values.h"
#include "base/error.h"

namespace vkf {

namespace {

constexpr std::pair<const char*, Schedule::Kind> step_schedules[] = {{"cosine", Schedule::Kind::cosine},
                                                                     {"trapezoid", Schedule::Kind::trapezoid},
                                                                     {"inverse-sqrt", Schedule::Kind::inverse_sqrt}};

constexpr const char* NO_END = "on --schedule inverse-sqrt, wanted --schedule cosine or trapezoid with it";

}  // namespace

void StepRunOptions::declare_steps(cli::Command& app) {
    option(app, "--max-iters", max_iters, "steps", whole(0, most_steps));
    choice(app, "--schedule", schedule_kind,
           "cosine: from the warm-up to the decay's end; trapezoid: a line over the last --warmdown-iters; "
           "inverse-sqrt: after the warm-up, in proportion to 1/√step",
           names_of(step_schedules));
    const auto decays = [this] { return schedule.decay_lr; };
    const char* const no_decay = "beside --no-decay-lr";
    effective_if(decays, no_decay);
    option(app, "--warmdown-iters", schedule.warmdown_iters, "steps of the trapezoid's descent", whole(0, most_steps));
    keep_if([this] { return schedule_kind == "trapezoid"; });
    effective_if([this] { return schedule_kind == "trapezoid"; },
                 [this] { return "on --schedule " + schedule_kind + ", wanted --schedule trapezoid with it"; });
    option(app, "--warmup-iters", schedule.warmup_iters, "steps of linear warm-up", whole(0, most_steps));
    effective_if([this] { return schedule.decay_lr || schedule.warmup_iters == 0; }, no_decay);
    option(app, "--lr-decay-iters", schedule.lr_decay_iters, "step at which the decay ends", whole(0, most_steps));
    keep_if([this] { return ends(); });
    effective_if(decays, no_decay);
    effective_if([this] { return ends(); }, NO_END);
    option(app, "--eval-interval", eval_interval, "steps between evaluations; each writes a checkpoint",
           whole(1, most_steps));
    option(
        app, "--z-loss", loss_terms.z_loss,
        "weight of log²Z in the loss that is trained, Z being the sum of a token's exponentials (PaLM: 1e-4); 0: none",
        number({.least = 0, .most = 1}));
    option(app, "--label-smoothing", loss_terms.label_smoothing,
           "share of each target that is spread evenly over all tokens, in the loss that is trained; 0: none",
           number({.least = 0, .most = 1, .most_too = false}));
}

void StepRunOptions::declare_steps_after_run() {
    effective_if(
        "--min-lr", [this] { return ends(); }, NO_END);
}

void StepRunOptions::check_steps() {
    schedule.kind = named("--schedule", schedule_kind, step_schedules);
    const std::int64_t warmdown = schedule.kind == Schedule::Kind::trapezoid ? schedule.warmdown_iters : 0;
    require(
        schedule.kind == Schedule::Kind::inverse_sqrt || schedule.lr_decay_iters >= schedule.warmup_iters + warmdown,
        "--lr-decay-iters ", schedule.lr_decay_iters,
        warmdown ? text(" is less than --warmdown-iters ", warmdown, " after") : " is before",
        " the end of --warmup-iters ", schedule.warmup_iters);
}

}  // namespace vkf
