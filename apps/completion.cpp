// vkformer completion and vkformer manpage: the program describes itself to shells and to man.

#include <CLI/CLI.hpp>

#include "apps/commands.h"
#include "apps/common.h"
#include "apps/completions.h"
#include "apps/option_values.h"
#include "apps/version.h"

namespace vkf {

namespace {

std::string completion(const CommandPage& program, const std::string& shell) {
    if (shell == "bash") return bash_completion(program);
    return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

/// Such a page is no document of JSON.
void print_page(const Common& common, const std::string& page) {
    require(!common.json, "--json: found it beside a command that prints a page, wanted none");
    print(page);
}

}  // namespace

void add_completion(CLI::App& app, Common& common) {
    CLI::App* completions = app.add_subcommand("completion", "Print what lets a shell complete vkformer's words");
    const std::vector<std::string> shells{"bash", "zsh", "fish"};
    auto shell = std::make_shared<std::string>();
    completions->add_option("shell", *shell, "The shell")
        ->required()
        ->type_name(CLI::detail::join(shells, "|"))
        ->check(one_of(shells));
    completions->footer(
        "Examples:\n  vkformer completion bash >vkformer.bash && . ./vkformer.bash\n"
        "  vkformer completion zsh >_vkformer\n  vkformer completion fish >vkformer.fish\n");
    completions->callback([shell, &app, &common] { print_page(common, completion(command_tree(app), *shell)); });

    CLI::App* manual = app.add_subcommand("manpage", "Print the man page");
    manual->footer("Example:\n  vkformer manpage >vkformer.1\n");
    manual->callback([&app, &common] { print_page(common, man_page(command_tree(app), version())); });
}

}  // namespace vkf
