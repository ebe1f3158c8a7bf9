// vkformer completion and vkformer manpage: print completions for shells, and the man page.

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "apps/cli/version.h"
#include "apps/help/completions.h"

namespace vkf {

namespace {

std::string completion(const CommandPage& program, const std::string& shell) {
    if (shell == "bash") return bash_completion(program);
    return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

/// Prints a page. Throws InputError with --json, because a page is not a JSON document.
void print_page(const Common& common, const std::string& page) {
    require(!common.json, "--json: found it beside a command that prints a page, wanted none");
    print(page);
}

}  // namespace

void add_completion(cli::Command& app, Common& common) {
    cli::Command& completions = app.add_subcommand("completion", "Print what lets a shell complete vkformer's words");
    const std::vector<std::string> shells{"bash", "zsh", "fish"};
    auto shell = std::make_shared<std::string>();
    completions.add_option("shell", *shell, "The shell")
        .required()
        .type_name(joined(shells, "|"))
        .check(one_of(shells));
    completions.footer(
        "Examples:\n  vkformer completion bash >vkformer.bash && . ./vkformer.bash\n"
        "  vkformer completion zsh >_vkformer\n  vkformer completion fish >vkformer.fish\n");
    completions.callback([shell, &app, &common] { print_page(common, completion(command_tree(app), *shell)); });

    cli::Command& manual = app.add_subcommand("manpage", "Print the man page");
    manual.footer("Example:\n  vkformer manpage >vkformer.1\n");
    manual.callback([&app, &common] { print_page(common, man_page(command_tree(app), version())); });
}

}  // namespace vkf
