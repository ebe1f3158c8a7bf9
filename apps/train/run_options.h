// Options of training runs of all models; nanoGPT's names where nanoGPT has the option.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/common.h"
#include "apps/cli/option_set.h"
#include "models/families/family.h"
#include "models/train/run_progress.h"
#include "models/train/schedule.h"
#include "models/train/trainer.h"

namespace vkf::cli {
class Command;
}

namespace vkf {

/// Largest number of steps of a run. Within the options' bounds, products of a run's counts fit in 64 bits.
inline constexpr std::int64_t most_steps = 1'000'000'000;

class RunOptions : public OptionSet {
public:
    /// Options for a model of the family.
    explicit RunOptions(const Family& family) : model(family.fresh()) {}

    // model, when it is not taken from --init-from or --resume; 0 where the data decide
    ModelConfig model;
    std::string attention = "standard", attention_kind = "full";
    std::optional<bool> mask_diagonal;  // if not given, the model's choice

    // training
    std::string data;
    std::vector<NamedPath> eval_data;  // more sets to evaluate on
    std::string eval_precision = "as-training";
    std::int64_t batch_size = 12;
    /// Option of batch_size, and the unit that it counts.
    struct BatchOption {
        const char* name = "--batch-size";
        const char* help = "sequences or images in a micro-batch";
        std::int64_t most = 100'000;
    } batch_option;
    TrainerConfig trainer;
    std::string optimizer = "adamw";
    std::string undecayed;      // parameters that do not decay, separated by commas
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
    std::int64_t probe_interval = 0;
    double peak_gflops = 0;  // 0: not known
    RunLimits limits;
    std::int64_t save_total_limit = 0;
    bool overfit_one_batch = false;
    bool dry_run = false;
    std::string trace;   // file of a dry run's timeline; "": none
    bool verify = true;  // check the manifest of the model or run that training starts from

    /// Takes the options that --config gives, and the options that every command has.
    void resolve(const Common& common);
    /// Source of the starting weights: "" for none, --init-from, or the run itself.
    std::string origin() const { return resume ? out_dir : init_from; }

    /// Feed of the updates of a run of `steps` steps: `feed`'s batches, or only the first one. Throws InputError if an
    /// option was given that has no effect on so few steps.
    Feed training_feed(Feed feed, std::int64_t steps) const;

    const Family& family() const { return model.family(); }

protected:
    /// Adds an option for every field of the model that has one.
    void declare_model(cli::Command& app);
    void declare_run(cli::Command& app);
    /// Settles options that depend on others, for a run with `evaluations` evaluations after its first. Throws
    /// InputError naming the option, its value and the wanted values.
    void check_run(std::int64_t evaluations);
    /// Throws InputError if the trace would replace the data, a model, or without --overwrite any file.
    void require_trace_file() const;
    /// Path of the config.json of origin(), which holds a model of this family; takes the train.toml of a resumed run
    /// too. Throws InputError for other models, and if the run's optimizer keeps other states than the optimizer of
    /// these options.
    std::string read_origin(const Common& common);
    /// Notes options given to a resumed run that differ from before.
    void note_changes(const Common& common) const;
    /// Takes the value that a model has. Throws InputError if the option was given another value.
    template <class T>
    void adopt(const char* name, T& value, const T& there, const std::string& file) {
        require(!given(name) || value == there, origin_of(name), " is ", shown(value), ", but ", file, " says ",
                shown(there), ": wanted that or nothing, for the model is there already");
        value = there;
    }
    /// Takes all of the model that the file describes.
    void adopt(ModelConfig there, const std::string& file);
    /// Gives a model with self-attention the variant and the kind of attention that the options describe.
    void set_attention(ModelConfig& made) const;

private:
    using OptionsByName = std::map<std::string, AnyConfig, std::less<>>;

    void declare_attention(cli::Command& app);
    /// Adds the options of all variants, or of all kinds, of attention; each has an effect if its owner is `chosen` by
    /// the option `choice`. Their values are in `kept`.
    template <class Registered>
    void declare_options_of(cli::Command& app, const char* choice, const std::string& chosen,
                            std::span<const Registered* const> all, OptionsByName& kept);
    AttentionConfig attention_config() const;
    void adopt(const Field& own, const Field& other, const std::string& file);
    /// Lets a fresh model's variant choose settings that no option gives.
    void choose_attention();
    void require_same_format(const std::string& run) const;

    OptionsByName variant_options_, kind_options_;
    bool chosen_mask_diagonal_ = false;  // used if it is not given
    std::int64_t evaluations_ = 0;       // of the run, after its first
};

/// Throws InputError if --half was given without --precision mixed.
void require_mixed(const Common& common);

/// Examples for the help of `train FAMILY`; `data` is an option.
std::string train_examples(const Family& family, const std::string& data);

}  // namespace vkf
