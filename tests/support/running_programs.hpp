// Which programs a process port of this process runs.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

namespace heddle::testing {

[[nodiscard]] inline std::vector<pid_t> children_of(pid_t parent) {
    const std::string number = std::to_string(parent);
    std::ifstream in("/proc/" + number + "/task/" + number + "/children");
    return {std::istream_iterator<pid_t>(in), {}};
}

/// Our children are starters, theirs are keepers, and theirs programs (docs/adr/0009).
[[nodiscard]] inline bool programs_are_running() {
    for (const pid_t starter : children_of(::getpid())) {
        for (const pid_t keeper : children_of(starter)) {
            if (!children_of(keeper).empty()) return true;
        }
    }
    return false;
}

} // namespace heddle::testing
