// What every training run can be told, whatever model it trains; nanoGPT's names where nanoGPT has the option.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "apps/common.h"
#include "models/attention/attention.h"
#include "models/train/schedule.h"
#include "models/train/trainer.h"

namespace vkf {

class RunOptions {
public:
    // model, when it is not taken from --init-from or --resume
    std::string attention = "standard";
    double gamma = 0;  // 0: the papers' choice for the model
    std::string gamma_on = "sum";
    std::optional<bool> mask_diagonal;  // the model's choice unless told

    // training
    std::string data;
    std::int64_t batch_size = 12;
    TrainerConfig trainer;
    std::string optimizer = "adamw";
    double eps = 0;  // 0: 1e-8, and 1e-18 for setadam
    Schedule schedule;
    std::uint64_t seed = 1337;
    std::string precision = "fp32";
    std::string half;

    /// What stands among the options that every command has.
    void take(const Common& common);

    // the run
    std::string out_dir = "out";
    std::string init_from;
    bool resume = false;
    bool overwrite = false;
    std::int64_t log_interval = 1;

    /// The full configuration as --config reads it; where the run is kept is no part of it.
    std::string toml() const;
    /// Where the starting weights come from: nowhere, --init-from, or the run itself.
    std::string origin() const { return resume ? out_dir : init_from; }

protected:
    void declare_run(CLI::App& app);
    /// Settles what depends on other options. Throws InputError naming the option, its value and what is wanted.
    void check_run();
    /// The variant that the flags describe; `sum_gamma` and `value_gamma` are attentionx's unless --gamma says
    /// otherwise.
    AttentionConfig attention_config(float sum_gamma, float value_gamma) const;

    template <class T>
    void option(CLI::App& app, const char* name, T& value, const char* help) {
        app.add_option(name, value, help)->capture_default_str()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        remember(name, value);
    }
    void flag(CLI::App& app, const char* name, bool& value, const char* help) {
        app.add_flag(name, value, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        remember(name, value);
    }

    /// A flag that stays open until somebody sets it, and until then is no part of the configuration.
    void flag(CLI::App& app, const char* name, std::optional<bool>& value, const char* help) {
        app.add_flag_function(
               name, [&value](std::int64_t count) { value = count > 0; }, help)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        remember(name, value);
    }

private:
    struct Entry {
        std::string key;
        std::function<std::string()> value;
    };

    template <class T>
    void remember(std::string name, T& value) {
        entries_.push_back({name.substr(2, name.find(',') - 2), [&value] { return toml_value(value); }});
    }
    static std::string toml_value(const std::string& value) { return '"' + value + '"'; }
    static std::string toml_value(std::optional<bool> value) { return value ? toml_value(*value) : ""; }
    static std::string toml_value(bool value) { return value ? "true" : "false"; }
    template <class Number>
    static std::string toml_value(Number value) {
        std::ostringstream stream;
        stream << std::setprecision(std::numeric_limits<Number>::max_digits10) << value;
        return stream.str();
    }

    std::vector<Entry> entries_;
};

/// Throw InputError "NAME is VALUE, wanted …".
void option_at_least(const char* name, double value, double least);
void option_below_one(const char* name, double value);

}  // namespace vkf
