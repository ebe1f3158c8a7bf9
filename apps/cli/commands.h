// The subcommands: each adds itself to the program, and its callback does the work.
#pragma once

namespace CLI {
class App;
}

namespace vkf {

struct Common;

void add_devices(CLI::App& app, Common& common);
void add_train(CLI::App& app, Common& common);
void add_eval(CLI::App& app, Common& common);
void add_classify(CLI::App& app, Common& common);
void add_generate(CLI::App& app, Common& common);
void add_forward(CLI::App& app, Common& common);
void add_inspect(CLI::App& app, Common& common);
void add_merge(CLI::App& app, Common& common);
void add_verify(CLI::App& app, Common& common);
void add_data(CLI::App& app, Common& common);
void add_bench(CLI::App& app, Common& common);
/// Adds the subcommand that writes completions for shells and the man page, of all commands.
void add_completion(CLI::App& app, Common& common);
/// Adds all subcommands, in the order of --help.
void add_commands(CLI::App& app, Common& common);

}  // namespace vkf
