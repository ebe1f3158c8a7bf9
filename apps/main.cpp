// Program `vkformer`: prepares the process, then runs the command line.

#include "apps/cli/command_line.h"
#include "base/os/os.h"

int main(int argc, char** argv) {
    vkf::os::prepare_process();
    std::vector<const char*> words;
    const std::vector<std::string> arguments = vkf::os::arguments(argc, argv);
    for (const std::string& word : arguments) words.push_back(word.c_str());
    return vkf::run_command_line(static_cast<int>(words.size()), words.data());
}
