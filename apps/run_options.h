// What every training run can be told, whatever model it trains; nanoGPT's names where nanoGPT has the option.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/common.h"
#include "apps/option_set.h"
#include "models/family.h"
#include "models/train/run_progress.h"
#include "models/train/schedule.h"
#include "models/train/trainer.h"

namespace CLI {
class App;
}

namespace vkf {

/// Steps of a run. Products of what a run counts, with the bounds that the options have, fit in 64 bits.
inline constexpr std::int64_t most_steps = 1'000'000'000;

class RunOptions : public OptionSet {
public:
    /// For a model of this family.
    explicit RunOptions(const Family& of) : model(of.fresh()) {}

    // model, when it is not taken from --init-from or --resume; 0 where the data decide
    ModelConfig model;
    std::string attention = "standard";
    std::optional<bool> mask_diagonal;  // the model's choice unless told

    // training
    std::string data;
    std::vector<NamedPath> eval_data;  // more sets to evaluate on
    std::int64_t batch_size = 12;
    TrainerConfig trainer;
    std::string optimizer = "adamw";
    std::optional<double> eps;  // else 1e-8, and 1e-18 for setadam
    Schedule schedule;
    std::uint64_t seed = 1337;
    std::string precision = "fp32";
    std::string half;

    // the run
    std::string out_dir = "out";
    std::string init_from;
    bool resume = false;
    bool overwrite = false;
    std::int64_t log_interval = 1;
    RunLimits limits;
    std::int64_t save_total_limit = 0;
    bool overfit_one_batch = false;
    bool dry_run = false;
    bool verify = true;  // the manifest of what a run starts from

    /// Takes what --config gives, and what stands among the options that every command has.
    void settle(const Common& common);
    /// Where the starting weights come from: nowhere, --init-from, or the run itself.
    std::string origin() const { return resume ? out_dir : init_from; }

    /// What a run of so many steps feeds its updates: `feed`'s batches, or only the first one. Throws InputError if an
    /// option was given that has no effect on so few.
    Feed training_feed(Feed feed, std::int64_t steps) const;

    const Family& family() const { return model.family(); }

protected:
    /// An option for every field of the model that has one.
    void declare_model(CLI::App& app);
    void declare_run(CLI::App& app);
    /// Settles what depends on other options, of a run with so many evaluations after its first. Throws InputError
    /// naming the option, its value and what is wanted.
    void check_run(std::int64_t evaluations);
    /// The config.json of origin(), which holds a model of this family; a run that is resumed gives its train.toml too.
    /// Throws InputError for other models, and if the run's optimizer keeps other states than these options'.
    std::string read_origin(const Common& common);
    /// A note of what a resumed run was given that is not as before.
    void tell_changes(const Common& common) const;
    /// Takes the value that a model has. Throws InputError if the option was given as something else.
    template <class T>
    void adopt(const char* name, T& value, const T& there, const std::string& file) {
        require(!given(name) || value == there, origin_of(name), " is ", shown(value), ", but ", file, " says ",
                shown(there), ": wanted that or nothing, for the model is there already");
        value = there;
    }
    /// All of the model that the file describes.
    void adopt(ModelConfig there, const std::string& file);
    /// The attention that the options describe.
    AttentionConfig attention_config() const;
    /// Throws InputError if an option that has no effect was given on the command line.
    void require_effect(const std::string& name, bool effective, const std::string& why) const;

private:
    void adopt(const Field& own, const Field& its, const std::string& file);
    /// Has a fresh model's mixer choose what no option says.
    void choose_attention();
    void require_same_states(const std::string& run) const;

    std::map<std::string, AnyConfig, std::less<>> mixer_options_;
    bool chosen_mask_diagonal_ = false;  // where nobody says
};

/// Throws InputError if --half was given without --precision mixed.
void require_mixed(const Common& common);

/// Examples for the help of `train FAMILY`; `data` is an option.
std::string train_examples(const Family& family, const std::string& data);

}  // namespace vkf
