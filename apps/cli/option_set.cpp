#include "apps/cli/option_set.h"

#include <algorithm>

#include "apps/help/usage.h"

namespace vkf {

namespace {

/// True if the command line gave the option to this command or to a command above it.
bool on_line(const cli::Command* command, const std::string& name) {
    for (; command; command = command->parent())
        if (const cli::Option option = command->find_option(name); option && option.count() > 0) return true;
    return false;
}

/// True for options that files may not give.
bool command_line_only(const std::string& key) {
    return key == "config" || key == "help" || key == "resume" || key == "overwrite" || key == "dry-run" ||
           key == "trace";
}

/// Names another command that has the option, or "; did you mean X?".
std::string hint(const cli::Command& command, const std::string& key) {
    if (const std::string other = who_has(command, "--" + key); !other.empty()) return other;
    std::vector<std::string> known;
    for (const cli::Option& option : command.options())
        for (const std::string& name : option.long_names())
            if (!command_line_only(name)) known.push_back(name);
    return did_you_mean(key, known);
}

}  // namespace

// --- Declaring options ---------------------------------------------------------------------------

cli::Option OptionSet::declare(cli::Command& app, const char* name, const char* help, const cli::Check& wanted,
                               std::function<void(const std::string&)> take, const std::string& standard,
                               const std::string& type) {
    app_ = &app;
    const auto take_word = [take = std::move(take)](const std::vector<std::string>& words) { take(words.back()); };
    return app.add_option_function(name, take_word, help)
        .check(wanted)
        .take_last()
        .default_str(standard)
        .type_name(type);
}

void OptionSet::declare_config(cli::Command& app) {
    app_ = &app;
    app.add_option("--config", configs_, "TOML file with options, which the command line and later files override")
        .type_name("FILE.toml")
        .one_word_each()
        .take_all();
}

void OptionSet::choice(cli::Command& app, const char* name, std::string& value, const char* help,
                       const std::vector<std::string>& known) {
    option(app, name, value, help, one_of(known)).type_name(joined(known, "|"));
}

void OptionSet::choice(cli::Command& app, const char* name, const Choice& value, const char* help) {
    remember(name + 2, [value] { return value_of(value.get()); });
    declare(app, name, help, one_of(value.words), value.set, value.get(), joined(value.words, "|"));
}

void OptionSet::field(cli::Command& app, const Field& field) {
    const std::string name = field.option_name();
    const char* help = field.help.c_str();
    if (const auto* whole = std::get_if<IntRange>(&field.value))
        option(app, name.c_str(), *whole->value, help, vkf::whole(std::min(whole->least, *whole->value), whole->most));
    else if (const auto* real = std::get_if<Number>(&field.value))
        option(app, name.c_str(), *real->value, help,
               number({.least = static_cast<double>(real->least),
                       .most = static_cast<double>(real->most),
                       .least_too = false}))
            .default_str(field.unset_by_default ? "" : shown(value_of(*real->value)));
    else if (const auto* on = std::get_if<bool*>(&field.value))
        flag(app, (name + ",!--no-" + name.substr(2)).c_str(), **on, help);
    else
        choice(app, name.c_str(), std::get<Choice>(field.value), help);
}

void OptionSet::path(cli::Command& app, const char* name, std::string& value, const char* help) {
    option(app, name, value, help, words()).type_name("PATH");
    entries_.back().value = [&value] {
        return value.empty() ? std::nullopt : value_of(std::filesystem::absolute(value).string());
    };
}

void OptionSet::named_paths(cli::Command& app, const char* name, std::vector<NamedPath>& value, const char* help) {
    app_ = &app;
    remember(name + 2, [&value]() -> std::optional<ConfigValue> {
        std::vector<std::string> list;
        for (const NamedPath& at : value)
            list.push_back(text(at.name, '=', std::filesystem::absolute(at.path).string()));
        return list.empty() ? std::nullopt : std::optional<ConfigValue>(std::move(list));
    });
    const auto take = [&value](const std::vector<std::string>& words) {
        value.clear();
        for (const std::string& word : words)
            value.push_back({word.substr(0, word.find('=')), word.substr(word.find('=') + 1)});
    };
    app.add_option_function(name, take, help)
        .type_name("NAME=PATH")
        .one_word_each()
        .check(named_path())
        .any_number()
        .take_all();
}

void OptionSet::flag(cli::Command& app, const char* name, bool& value, const char* help) {
    app_ = &app;
    const std::string names = name + 2;
    remember(names.substr(0, names.find(',')), [&value] { return std::optional<ConfigValue>(value); });
    app.add_flag(name, value, help).take_last();
}

void OptionSet::flag(cli::Command& app, const char* name, std::optional<bool>& value, const char* help) {
    app_ = &app;
    const std::string names = name + 2;
    remember(names.substr(0, names.find(',')), [&value]() -> std::optional<ConfigValue> { return value; });
    app.add_flag_function(
           name, [&value](bool given) { value = given; }, help)
        .take_last();
}

void OptionSet::keep_if(std::function<bool()> meant) {
    Entry& last = entries_.back();
    last.value = [meant = std::move(meant), value = last.value] { return meant() ? value() : std::nullopt; };
}

void OptionSet::effective_if(std::function<bool()> effective, std::function<std::string()> without) {
    entries_.back().conditions.push_back({std::move(effective), std::move(without)});
}

void OptionSet::effective_if(std::function<bool()> effective, const char* without) {
    effective_if(std::move(effective), [without] { return std::string(without); });
}

void OptionSet::effective_if(std::string_view name, std::function<bool()> effective, const char* without) {
    const auto entry = std::ranges::find_if(entries_, [&](const Entry& at) { return "--" + at.key == name; });
    if (entry == entries_.end()) throw Error("option ", name, " has a condition, but no declaration");
    entry->conditions.push_back({std::move(effective), [without] { return std::string(without); }});
}

void OptionSet::fixed_by_run(std::string absent, std::function<std::string(const std::string&)> state) {
    entries_.back().absent = std::move(absent);
    entries_.back().state = state ? std::move(state) : [](const std::string& value) { return value; };
}

std::string OptionSet::on_or_off(const std::string& value) {
    return read_number(value).value_or(0) > 0 ? "on" : "off";
}

void OptionSet::require_effect(const std::string& name, bool effective, const std::string& without) const {
    require(effective || !on_command_line(name), name, " has no effect ", without);
}

void OptionSet::require_effects() const {
    for (const Entry& entry : entries_)
        for (const Condition& condition : entry.conditions)
            if (!condition.effective()) require_effect("--" + entry.key, false, condition.without());
}

void OptionSet::require_fixed(const std::string& run, const std::string& out_dir) const {
    for (const Entry& entry : entries_) {
        if (!entry.state) continue;
        const auto word = [&](const std::optional<ConfigValue>& value) {
            return value ? argument(*value) : entry.absent;
        };
        const ConfigValue* was = base(entry.key);
        const std::string then = word(was ? std::optional(*was) : std::nullopt), now = word(entry.value());
        require(entry.state(now) == entry.state(then), origin_of("--" + entry.key), " is ", now, ", but ", run,
                " says ", then,
                ", and the run keeps that one's states: wanted the same, or a fresh run with --init-from ", out_dir);
    }
}

void OptionSet::remember(std::string key, std::function<std::optional<ConfigValue>()> value) {
    entries_.push_back({std::move(key), std::move(value)});
}

std::string OptionSet::shown(const std::optional<ConfigValue>& value) {
    if (!value) return "";
    return std::holds_alternative<double>(*value) ? shortest(std::get<double>(*value)) : argument(*value);
}

// --- Values from files ---------------------------------------------------------------------------

void OptionSet::read_configs() {
    for (auto file = configs_.rbegin(); file != configs_.rend(); ++file) apply(*file, Source::config);
}

void OptionSet::read_base(const std::filesystem::path& path) {
    apply(path, Source::base);
}

void OptionSet::apply(const std::filesystem::path& file, Source source) {
    for (const ConfigEntry& entry : read_config(file)) {
        const std::string name = "--" + entry.key;
        const cli::Option option = app_->find_option(name);
        require(!command_line_only(entry.key), entry.where, ": stands on the command line only");
        require(bool(option), entry.where, ": `", path_of(*app_), "` has no such option", hint(*app_, entry.key));
        const std::string key = option.long_names().front();
        require(key == entry.key, entry.where, ": found ", entry.key, ", wanted ", key, " = true or false");
        if (source == Source::base) base_.insert_or_assign(entry.key, entry.value);
        if (!on_line(app_, name) && option.count() == 0) take(option, entry, source);
    }
}

void OptionSet::take(cli::Option option, const ConfigEntry& entry, Source source) {
    const auto* list = std::get_if<std::vector<std::string>>(&entry.value);
    const bool wants_list = option.takes_several();
    require(!list || wants_list, entry.where,
            ": found a list, wanted one value: text in quotes, a number, true or false");
    const bool words = list || std::holds_alternative<std::string>(entry.value);
    const std::string word = argument(entry.value);
    const std::string found = entry.where + ": found " + (words ? '"' + word + '"' : word);
    if (option.is_flag())
        require(std::holds_alternative<bool>(entry.value), found, ", wanted true or false");
    else if (wants_number(option))
        require(!words && !std::holds_alternative<bool>(entry.value), found, ", wanted a number");
    else
        require(words, found, ", wanted text in quotes");
    if (words && word.empty()) return;  // treated as absent
    given_.insert_or_assign(option.name(), Given{source, entry.where});
    const std::string fault = option.take(list ? *list : std::vector{word});
    require(fault.empty(), entry.where, ": ", fault);
}

// --- Origin of values ----------------------------------------------------------------------------

bool OptionSet::on_command_line(const std::string& name) const {
    const cli::Option option = app_ ? app_->find_option(name) : cli::Option();
    return option && !given_.contains(option.name()) && on_line(app_, name);
}

std::map<std::string, OptionSet::Given>::const_iterator OptionSet::given_by_file(const std::string& name) const {
    const cli::Option option = app_ ? app_->find_option(name) : cli::Option();
    return option ? given_.find(option.name()) : given_.end();
}

bool OptionSet::given(const std::string& name) const {
    const auto file = given_by_file(name);
    return file != given_.end() ? file->second.source == Source::config : on_command_line(name);
}

std::string OptionSet::origin_of(const std::string& name) const {
    const auto file = given_by_file(name);
    return file == given_.end() ? name : file->second.where;
}

const ConfigValue* OptionSet::base(const std::string& key) const {
    const auto found = base_.find(key);
    return found == base_.end() ? nullptr : &found->second;
}

// --- Values as text ------------------------------------------------------------------------------

std::string OptionSet::toml() const {
    std::string lines;
    for (const Entry& entry : entries_)
        if (const auto value = entry.value(); value && !command_line_only(entry.key) && entry.key != "out-dir")
            lines += toml_line(entry.key, *value);
    return lines;
}

std::string OptionSet::changes() const {
    std::string list;
    for (const Entry& entry : entries_) {
        const std::optional<ConfigValue> value = entry.value();
        const ConfigValue* was = base(entry.key);
        if (!value || !was || !given("--" + entry.key) || same_value(*value, *was)) continue;
        list += (list.empty() ? "" : ", ") + entry.key + " " + argument(*value) + " (was " + argument(*was) + ")";
    }
    return list;
}

}  // namespace vkf
