#include "process/own_children.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::process::testing {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

class own_children : public ::testing::Test {
protected:
    own_children() {
        for (int i = 0; i < 200; ++i) start([] { ::pause(); });
        // Its name looks like the end of a name and another parent.
        start([] {
            ::prctl(PR_SET_NAME, "x) S 1 (y");
            ::pause();
        });
        const pid_t ended = start([] {});
        siginfo_t about{};
        EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(ended), &about, WEXITED | WNOWAIT), 0);
    }
    ~own_children() override {
        for (const pid_t each : started) ::kill(each, SIGKILL);
        for (const pid_t each : started) ::waitpid(each, nullptr, 0);
    }
    template <class What>
    pid_t start(What what) {
        const pid_t result = ::fork();
        if (result == 0) {
            what();
            ::_exit(0);
        }
        started.push_back(result);
        return result;
    }
    static void note(pid_t child, void* into) {
        static_cast<std::vector<pid_t>*>(into)->push_back(child);
    }

    std::vector<pid_t> started;
};

TEST_F(own_children, are_found_in_both_ways) {
    ASSERT_TRUE(knows_own_children());
    std::vector<pid_t> found;
    const int by_parent = for_each_child_by_parent(&note, &found);
    EXPECT_EQ(by_parent, static_cast<int>(found.size()));
    EXPECT_THAT(found, IsSupersetOf(started));
    EXPECT_THAT(found, Not(Contains(::getpid())));
    EXPECT_THAT(found, Not(Contains(::getppid())));
    std::vector<pid_t> listed;
    const int count = for_each_listed_child(&note, &listed);
    if (count >= 0) {
        EXPECT_THAT(listed, ::testing::UnorderedElementsAreArray(found));
    }
    std::vector<pid_t> seen;
    EXPECT_EQ(for_each_child([&](pid_t child) { seen.push_back(child); }),
              static_cast<int>(found.size()));
    EXPECT_THAT(seen, ::testing::UnorderedElementsAreArray(found));
}

} // namespace
} // namespace heddle::process::testing
