#include "store/run_lock.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/store/run_store.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace heddle::store {

namespace {

error failure(const std::string& file, int why) {
    return error(errc::io_error, "run " + file + ": " + std::strerror(why))
        .with_hint("the folder of a run must be writable");
}

struct held_run final : run_hold {
    explicit held_run(run_lock mine) noexcept : lock(std::move(mine)) {}
    run_lock lock;
};

} // namespace

result<run_lock> run_lock::take(const std::string& folder) {
    const std::string name = folder + "/lock";
    // Never deleted: a lock on a file without a name would keep nobody out.
    run_lock mine(
        fs::descriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)));
    if (!mine.file_.open()) return failure(name, errno);
    const int file = mine.file_.get();
    // is_run_open() and hold_run() hold the lock for a moment.
    for (int left = 15; left != 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0; --left) {
        if (left != 1 && errno == EWOULDBLOCK) {
            ::usleep(20'000);
            continue;
        }
        if (errno != EWOULDBLOCK) return failure(name, errno);
        char text[24] = {};
        const ssize_t size = ::pread(file, text, sizeof text - 1, 0);
        std::string who = size > 0 ? std::string(text, static_cast<std::size_t>(size)) : "";
        who.resize(std::min(who.size(), who.find_first_not_of(ascii::digits)));
        return error(errc::io_error, "run " + folder + " is open in another process" +
                                         (who.empty() ? "" : " (" + who + ")"))
            .with_hint(
                "wait until it has ended, or stop it (a batch with `heddle runs cancel`); "
                "`heddle runs show` shows a run that is in progress");
    }
    const std::string number = std::to_string(::getpid()) + "\n";
    // Only for the message above.
    if (::ftruncate(file, 0) == 0) [[maybe_unused]]
        const ssize_t ignored = ::pwrite(file, number.data(), number.size(), 0);
    return mine;
}

bool is_run_open(const std::string& folder) noexcept {
    const fs::descriptor file(::open((folder + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file.open()) return false;
    return ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

result<std::unique_ptr<run_hold>> hold_run(const std::string& folder) {
    HEDDLE_TRY(run_lock mine, run_lock::take(folder));
    return std::unique_ptr<run_hold>(std::make_unique<held_run>(std::move(mine)));
}

} // namespace heddle::store
