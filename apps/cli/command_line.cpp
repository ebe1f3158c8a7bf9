#include "apps/cli/command_line.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/version.h"
#include "apps/help/completions.h"
#include "apps/help/usage.h"
#include "apps/train/run_options.h"
#include "base/error.h"
#include "base/text/plain_text.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

constexpr const char* EXAMPLES =
    "Examples:\n"
    "  vkformer devices\n"
    "  vkformer train gpt --data input.txt --out-dir out --attention belief\n"
    "  vkformer generate --model out --prompt 'To be' --max-new-tokens 200\n"
    "\n"
    "`vkformer SUBCOMMAND --help` tells more. Exit status: 0 done, 1 failed while running, 2 bad "
    "usage\n"
    "or bad input, 130 interrupted.\n";

/// "vkformer: error: …".
int complain(std::string_view message, int status) {
    while (message.ends_with('\n')) message.remove_suffix(1);
    tell(text("vkformer: error: ", message));
    return status;
}

/// Message of a system error about a path, worded like the program's own messages.
std::string message_of(const std::filesystem::filesystem_error& error) {
    return text("cannot use ", error.path1().string(), ": ", error.code().message());
}

/// The words as a shell reads them, the program without its directory.
std::string shell_line(int argc, const char* const* argv) {
    constexpr const char* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./=:,+@%";
    std::string line;
    for (int i = 0; i < argc; ++i) {
        const std::string word = i == 0 ? std::filesystem::path(argv[i]).filename().string() : argv[i];
        const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
        line += (i == 0 ? "" : " ") + (is_plain ? word : shell_quoted(word));
    }
    return line;
}

/// Commands with --config check this themselves, since the file may give --precision too.
void check_common(const cli::Command& program, const Common& common) {
    const cli::Command* command = &program;
    while (const cli::Command* chosen = command->chosen_subcommand()) command = chosen;
    if (!command->find_option("--config")) require_mixed(common);
}

int run(int argc, const char* const* argv) {
    cli::RootCommand app("vkformer", "Trains and runs transformers on any Vulkan device.");
    Common common;
    common.command_line = shell_line(argc, argv);
    add_common(app, common);
    app.version(text("vkformer ", version()));
    app.footer(EXAMPLES);
    app.parse_complete_callback([&] { check_common(app, common); });
    add_commands(app, common);
    if (argc < 2) {
        std::fputs(app.help().c_str(), stderr);
        return 2;
    }
    app.require_subcommand();
    check_flags(app);
    const cli::ParseResult result = app.parse(argc, argv);
    using Kind = cli::ParseResult::Kind;
    if (result.kind == Kind::error || (result.kind == Kind::help && has_unknown(app)))
        return complain(usage_message(app, result.message), 2);
    if (result.kind == Kind::help) print(app.help());
    if (result.kind == Kind::version) print(result.message + "\n");
    return 0;
}

}  // namespace

void add_commands(cli::Command& app, Common& common) {
    add_devices(app, common);
    add_check(app, common);
    add_train(app, common);
    add_eval(app, common);
    add_heads(app, common);
    add_score(app, common);
    add_generate(app, common);
    add_fill(app, common);
    add_translate(app, common);
    add_classify(app, common);
    add_forward(app, common);
    add_inspect(app, common);
    add_merge(app, common);
    add_verify(app, common);
    add_data(app, common);
    add_bench(app, common);
    add_sweep(app, common);
    add_watch(app, common);
    add_report(app, common);
    add_pdmm(app, common);
    add_completion(app, common);
}

int run_command_line(int argc, const char* const* argv) {
    try {
        return run(argc, argv);
    } catch (const ClosedOutput&) {
        return 1;
    } catch (const Interrupted&) {
        return 130;
    } catch (const DeviceHang& error) {
        std::_Exit(complain(error.what(), 1));  // at exit, drivers wait for submitted work
    } catch (const InputError& error) {
        return complain(error.what(), 2);
    } catch (const std::bad_alloc&) {
        return complain("out of memory", 1);
    } catch (const std::length_error&) {
        return complain("out of memory: a size that was asked for is larger than any memory", 1);
    } catch (const Error& error) {
        return complain(error.what(), 1);
    } catch (const std::filesystem::filesystem_error& error) {
        return complain(message_of(error), 1);
    } catch (const std::system_error& error) {
        return complain(text("the system refused something: ", error.code().message()), 1);
    } catch (const std::exception& error) {
        return complain(text("internal error: ", error.what()), 1);
    } catch (...) {
        return complain("internal error: an unknown failure", 1);
    }
}

}  // namespace vkf
