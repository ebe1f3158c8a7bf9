#include "apps/cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <utility>

namespace vkf::cli {

namespace {

/// Help as CLI11 2.1 words it. Options that an option needs or excludes have the order of their declaration; CLI11 has
/// them in a set of pointers.
class Formatter : public CLI::Formatter {
public:
    explicit Formatter(const CLI::App& command) : command_(command) {}

    std::string make_option_opts(const CLI::Option* option) const override {
        std::string words;
        if (option->get_type_size() != 0) {
            if (const std::string type = option->get_type_name(); !type.empty()) words += " " + get_label(type);
            if (const std::string standard = option->get_default_str(); !standard.empty()) words += "=" + standard;
            if (option->get_expected_max() == CLI::detail::expected_max_vector_size) words += " ...";
            if (option->get_required()) words += " " + get_label("REQUIRED");
        }
        return words + listed("Needs", option->get_needs()) + listed("Excludes", option->get_excludes());
    }

private:
    /// " Needs: --a --b", or "" for no options.
    std::string listed(const char* label, const std::set<CLI::Option*>& options) const {
        if (options.empty()) return "";
        std::string words = " " + get_label(label) + ":";
        for (const CLI::Option* option : command_.get_options())
            if (std::ranges::find(options, option) != options.end()) words += " " + option->get_name();
        return words;
    }

    const CLI::App& command_;
};

}  // namespace

// --- Options -------------------------------------------------------------------------------------

Option Option::type_name(const std::string& name) {
    return Option(option_->type_name(name));
}

Option Option::default_str(const std::string& words) {
    return Option(option_->default_str(words));
}

Option Option::capture_default_str() {
    return Option(option_->capture_default_str());
}

Option Option::group(const std::string& heading) {
    return Option(option_->group(heading));
}

Option Option::required() {
    return Option(option_->required());
}

Option Option::check(const Check& check) {
    return Option(option_->check(CLI::Validator(check.complaint, "", check.name)));
}

Option Option::transform(std::function<std::string(std::string)> replacement) {
    return Option(option_->transform(std::move(replacement)));
}

Option Option::needs(const std::string& name) {
    return Option(option_->needs(name));
}

Option Option::excludes(const std::string& name) {
    return Option(option_->excludes(name));
}

Option Option::take_last() {
    return Option(option_->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
}

Option Option::take_all() {
    return Option(option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
}

Option Option::one_word_each() {
    return Option(option_->allow_extra_args(false));
}

Option Option::any_number() {
    return Option(option_->expected(1, CLI::detail::expected_max_vector_size));
}

Option Option::any_words() {
    // CLI11 reads lists in brackets where it allows extra arguments, and takes one word each time where it does not,
    // unless the greatest number is well below the one that stands for any.
    constexpr int most = 1 << 16;
    return Option(option_->expected(1, most)->allow_extra_args(false));
}

Option Option::delimiter(char delimiter) {
    return Option(option_->delimiter(delimiter));
}

std::string Option::name() const {
    return option_->get_name();
}

std::vector<std::string> Option::short_names() const {
    return option_->get_snames();
}

std::vector<std::string> Option::long_names() const {
    return option_->get_lnames();
}

std::string Option::description() const {
    return option_->get_description();
}

std::string Option::type_name() const {
    return option_->get_type_name();
}

std::string Option::default_str() const {
    return option_->get_default_str();
}

std::string Option::group() const {
    return option_->get_group();
}

bool Option::is_required() const {
    return option_->get_required();
}

bool Option::is_positional() const {
    return option_->get_positional();
}

bool Option::is_flag() const {
    return option_->get_items_expected_max() == 0;
}

bool Option::takes_several() const {
    return option_->get_items_expected_max() > 1;
}

bool Option::has_check(const std::string& name) const try {
    return option_->get_validator(name) != nullptr;
} catch (const CLI::OptionNotFound&) {
    return false;
}

std::string Option::complaint(std::string word) const {
    for (int i = 0;; ++i) try {
            if (std::string found = (*option_->get_validator(i))(word); !found.empty()) return found;
        } catch (const CLI::OptionNotFound&) {
            return "";
        }
}

std::size_t Option::count() const {
    return option_->count();
}

std::string Option::take(const std::vector<std::string>& words) try {
    option_->add_result(words);
    option_->run_callback();
    return "";
} catch (const CLI::ParseError& error) {
    const std::string message = error.what(), start = name() + ": ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
}

// --- Commands ------------------------------------------------------------------------------------

Command::Command(std::shared_ptr<CLI::App> app, const Command* parent) : app_(std::move(app)), parent_(parent) {
    app_->formatter(std::make_shared<Formatter>(*app_));
}

Command::~Command() = default;

Command& Command::add_subcommand(const std::string& name, const std::string& description) {
    const std::shared_ptr<CLI::App> made(app_, app_->add_subcommand(name, description));  // the program owns it
    subcommands_.push_back(std::unique_ptr<Command>(new Command(made, this)));
    return *subcommands_.back();
}

void Command::require_subcommand() {
    app_->require_subcommand(1);
}

Option Command::add_option(const std::string& names, std::string& value, const std::string& description) {
    return Option(app_->add_option(names, value, description));
}

Option Command::add_option(const std::string& names, std::int64_t& value, const std::string& description) {
    return Option(app_->add_option(names, value, description));
}

Option Command::add_option(const std::string& names, std::uint64_t& value, const std::string& description) {
    return Option(app_->add_option(names, value, description));
}

Option Command::add_option(const std::string& names, double& value, const std::string& description) {
    return Option(app_->add_option(names, value, description));
}

Option Command::add_option(const std::string& names, float& value, const std::string& description) {
    return Option(app_->add_option(names, value, description));
}

Option Command::add_option(const std::string& names, std::optional<std::int64_t>& value,
                           const std::string& description) {
    return Option(app_->add_option(names, value, description));
}

Option Command::add_option(const std::string& names, std::vector<std::string>& value, const std::string& description) {
    return Option(app_->add_option(names, value, description));
}

Option Command::add_option(const std::string& names, std::vector<std::int32_t>& value, const std::string& description) {
    return Option(app_->add_option(names, value, description));
}

Option Command::add_option_function(const std::string& names, std::function<void(const std::vector<std::string>&)> take,
                                    const std::string& description) {
    const auto all_taken = [take = std::move(take)](const CLI::results_t& words) {
        take(words);
        return true;
    };
    return Option(app_->add_option(names, CLI::callback_t(all_taken), description));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& description) {
    return Option(app_->add_flag(names, value, description));
}

Option Command::add_flag_function(const std::string& names, std::function<void(bool)> take,
                                  const std::string& description) {
    const auto counted = [take = std::move(take)](std::int64_t count) { take(count > 0); };
    return Option(app_->add_flag_function(names, counted, description));
}

void Command::footer(const std::string& text) {
    app_->footer(text);
}

void Command::callback(std::function<void()> work) {
    app_->callback(std::move(work));
}

std::string Command::name() const {
    return app_->get_name();
}

std::string Command::description() const {
    return app_->get_description();
}

std::string Command::footer() const {
    return app_->get_footer();
}

std::string Command::group() const {
    return app_->get_group();
}

std::vector<Command*> Command::subcommands() const {
    std::vector<Command*> list;
    for (const auto& command : subcommands_) list.push_back(command.get());
    return list;
}

std::vector<Option> Command::options() const {
    std::vector<Option> list;
    for (CLI::Option* option : app_->get_options([](const CLI::Option*) { return true; })) list.emplace_back(option);
    return list;
}

Option Command::option(const std::string& name) const {
    return Option(app_->get_option(name));
}

Option Command::find_option(const std::string& name) const {
    return Option(app_->get_option_no_throw(name));
}

const Command* Command::chosen_subcommand() const {
    const std::vector<CLI::App*> chosen = app_->get_subcommands();
    if (chosen.empty()) return nullptr;
    return std::ranges::find(subcommands_, chosen.front(), [](const auto& command) { return command->app_.get(); })
        ->get();
}

// --- The program ---------------------------------------------------------------------------------

RootCommand::RootCommand(const std::string& name, const std::string& description)
    : Command(std::make_shared<CLI::App>(description, name), nullptr) {}

void RootCommand::version(const std::string& text) {
    app_->set_version_flag("--version", text);
}

void RootCommand::parse_complete_callback(std::function<void()> check) {
    app_->parse_complete_callback(std::move(check));
}

ParseResult RootCommand::parse(int argc, const char* const* argv) try {
    app_->parse(argc, argv);
    return {};
} catch (const CLI::CallForHelp&) {
    return {ParseResult::Kind::help};
} catch (const CLI::CallForVersion& version) {
    return {ParseResult::Kind::version, version.what()};
} catch (const CLI::ParseError& error) {
    return {ParseResult::Kind::error, error.what()};
}

std::string RootCommand::help() const {
    return app_->help();
}

std::vector<std::string> RootCommand::unknown_words() const {
    return app_->remaining(true);
}

}  // namespace vkf::cli
