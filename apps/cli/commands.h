// The subcommands: each adds itself to the program, and its callback does the work.
#pragma once

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;

void add_devices(cli::Command& app, Common& common);
void add_check(cli::Command& app, Common& common);
void add_train(cli::Command& app, Common& common);
void add_eval(cli::Command& app, Common& common);
void add_heads(cli::Command& app, Common& common);
void add_score(cli::Command& app, Common& common);
void add_classify(cli::Command& app, Common& common);
void add_generate(cli::Command& app, Common& common);
void add_fill(cli::Command& app, Common& common);
void add_translate(cli::Command& app, Common& common);
void add_forward(cli::Command& app, Common& common);
void add_inspect(cli::Command& app, Common& common);
void add_merge(cli::Command& app, Common& common);
void add_verify(cli::Command& app, Common& common);
void add_data(cli::Command& app, Common& common);
void add_bench(cli::Command& app, Common& common);
void add_sweep(cli::Command& app, Common& common);
void add_watch(cli::Command& app, Common& common);
void add_report(cli::Command& app, Common& common);
void add_pdmm(cli::Command& app, Common& common);
/// Adds the subcommand that writes completions for shells and the man page, of all commands.
void add_completion(cli::Command& app, Common& common);
/// Adds all subcommands, in the order of --help.
void add_commands(cli::Command& app, Common& common);

}  // namespace vkf
