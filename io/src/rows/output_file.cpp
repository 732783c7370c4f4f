#include "rows/output_file.hpp"

#include <heddle/fs/sync_file.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace heddle::rows {

namespace {

std::string hint_for(int why) {
    switch (why) {
    case ENOSPC:
    case EDQUOT: return "the disk is full: make room, then run the same command again";
    case EFBIG: return "the size of files is limited (ulimit -f, or by the file system)";
    case EACCES:
    case EPERM:
    case EROFS: return "the file and its folder must be writable";
    case EISDIR: return "name a file in that folder";
    case ENOENT: return "its folder must exist";
    case EPIPE: return "the program that reads the output has ended";
    case ENXIO: return "start the program that reads the pipe first, or at once";
    default: return {};
    }
}

/// Reads at `offset` until `bytes` are there or the file ends.
result<std::string> read_at(int number, std::uint64_t offset, std::size_t bytes) {
    std::string read(bytes, '\0');
    std::size_t got = 0;
    while (got < bytes) {
        const ssize_t more =
            ::pread(number, read.data() + got, bytes - got, static_cast<off_t>(offset + got));
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return error(errc::io_error, std::strerror(errno));
        if (more == 0) break;
        got += static_cast<std::size_t>(more);
    }
    read.resize(got);
    return read;
}

/// Opens a pipe to write to it only: to a process that could read it as well, the end of its
/// readers would not show. Waits for the first of them for a moment.
int open_pipe(const std::string& file) {
    constexpr int tries = 100;
    for (int i = 0;; ++i) {
        const int number = ::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (number >= 0 || errno != ENXIO || i == tries) return number;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

bool is_pipe(const std::string& file) {
    struct stat about {};
    return ::stat(file.c_str(), &about) == 0 && S_ISFIFO(about.st_mode);
}

} // namespace

std::string output_file::name() const {
    return target_.file == "-" ? "standard output" : target_.file;
}

error output_file::failed(int why) const {
    return error(errc::io_error, name() + ": " + std::strerror(why)).with_hint(hint_for(why));
}

error output_file::refused(const std::string& what) const {
    return {errc::invalid_argument, name() + ": " + what};
}

result<output_file> output_file::open(const output_target& target, std::string beginning,
                                      std::string_view broken_end) {
    output_file opened(target);
    if (target.file == "-") {
        opened.number_ = target.standard_output;
    } else if (is_pipe(target.file)) {
        opened.own_ = fs::descriptor(open_pipe(target.file));
        if (!opened.own_.open()) return opened.failed(errno);
        opened.number_ = opened.own_.get();
    } else {
        opened.own_ = fs::descriptor(
            ::open(target.file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
        if (!opened.own_.open() && (errno == EACCES || errno == EINVAL || errno == ENXIO))
            opened.own_ = fs::descriptor( // a device that can only be written
                ::open(target.file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
        if (!opened.own_.open()) return opened.failed(errno);
        opened.number_ = opened.own_.get();
    }
    struct stat about {};
    if (::fstat(opened.number_, &about) != 0) return opened.failed(errno);
    // Standard output may be a file that others write to: only appended to, as any pipe.
    opened.regular_ = S_ISREG(about.st_mode) && target.file != "-";
    HEDDLE_CHECK(
        opened.begin(beginning, opened.regular_ ? static_cast<std::uint64_t>(about.st_size) : 0));
    if (opened.regular_) return opened;
    opened.stream_ = std::to_string(about.st_dev) + ':' + std::to_string(about.st_ino);
    const bool is_empty = S_ISREG(about.st_mode) && about.st_size == 0;
    // Not now: a pipe may be full, and nothing interrupts this.
    if (opened.stream_ == target.broken_stream && !is_empty) opened.pending_ = broken_end;
    return opened;
}

result<void> output_file::begin(const std::string& beginning, std::uint64_t bytes) {
    if (regular_) {
        if (::flock(number_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            return error(errc::io_error, name() + ": another process writes this file")
                .with_hint("wait until it has ended, or choose another file");
        switch (target_.start) {
        case output_start::fresh:
            // A start that was killed leaves the header of its columns.
            if (bytes != 0 && !target_.force && !is_only(beginning, bytes))
                return refused("the file exists and does not belong to this run")
                    .with_hint("choose another file, or replace it with --force");
            HEDDLE_CHECK(cut(0));
            break;
        case output_start::at_size:
            if (bytes < target_.size)
                return refused("the file has " + std::to_string(bytes) + " bytes; this run wrote " +
                               std::to_string(target_.size))
                    .with_hint("it was changed or replaced; put it back, or start a new run");
            HEDDLE_CHECK(check_beginning(beginning, bytes));
            if (target_.size != 0) {
                const auto last = read_at(number_, target_.size - 1, 1);
                if (!last || *last != "\n")
                    return refused("no line ends at byte " + std::to_string(target_.size) +
                                   ", where this run stopped")
                        .with_hint("it was changed or replaced; put it back, or start a new run");
            }
            HEDDLE_CHECK(cut(target_.size));
            break;
        case output_start::after_last_line:
            HEDDLE_CHECK(check_beginning(beginning, bytes));
            HEDDLE_TRY(const std::uint64_t end, end_of_lines(bytes));
            HEDDLE_CHECK(cut(end));
            break;
        }
    }
    const bool continued = !regular_ && target_.start == output_start::at_size && target_.size != 0;
    if (size_ == 0 && !continued && beginning.ends_with('\n')) return append(beginning);
    return {};
}

/// A crash may have left less than the beginning.
result<void> output_file::check_beginning(const std::string& beginning, std::uint64_t bytes) {
    const std::size_t size = std::min<std::uint64_t>(bytes, beginning.size());
    const auto there = read_at(number_, 0, size);
    if (!there) return error(errc::io_error, name() + ": " + there.error().message());
    if (std::string_view(beginning).starts_with(*there)) return {};
    return refused("the file does not begin as one of this run does")
        .with_hint("it holds something else or has other columns; choose another file");
}

bool output_file::is_only(const std::string& beginning, std::uint64_t bytes) {
    if (bytes > beginning.size() || !beginning.ends_with('\n')) return false;
    const auto there = read_at(number_, 0, static_cast<std::size_t>(bytes));
    return there && std::string_view(beginning).starts_with(*there);
}

result<std::uint64_t> output_file::end_of_lines(std::uint64_t bytes) {
    constexpr std::uint64_t block = 65'536;
    while (bytes != 0) {
        const std::uint64_t from = bytes > block ? bytes - block : 0;
        const auto text = read_at(number_, from, static_cast<std::size_t>(bytes - from));
        if (!text) return error(errc::io_error, name() + ": " + text.error().message());
        if (const auto found = text->rfind('\n'); found != std::string::npos)
            return from + found + 1;
        bytes = from;
    }
    return std::uint64_t{0};
}

result<void> output_file::cut(std::uint64_t size) {
    while (::ftruncate(number_, static_cast<off_t>(size)) != 0)
        if (errno != EINTR) return failed(errno);
    if (::lseek(number_, static_cast<off_t>(size), SEEK_SET) < 0) return failed(errno);
    size_ = size;
    return {};
}

result<void> output_file::append(std::string_view lines) {
    if (failure_) return *failure_;
    if (!pending_.empty()) {
        const std::string ending = std::exchange(pending_, {});
        HEDDLE_CHECK(append(ending));
    }
    std::string_view rest = lines;
    while (!rest.empty()) {
        const ssize_t written = ::write(number_, rest.data(), rest.size());
        if (written >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(written));
            continue;
        }
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) { // standard output of somebody else's making
            pollfd one{number_, POLLOUT, 0};
            ::poll(&one, 1, -1);
            continue;
        }
        failure_ = failed(errno);
        if (regular_) {
            [[maybe_unused]] const int cut_off =
                ::ftruncate(number_, static_cast<off_t>(size_)); // a resume cuts it off, too
        }
        return *failure_;
    }
    size_ += lines.size();
    return {};
}

result<void> output_file::check_name() const {
    struct stat own {};
    struct stat named {};
    if (::fstat(number_, &own) != 0) return failed(errno);
    if (::stat(target_.file.c_str(), &named) == 0 && named.st_dev == own.st_dev &&
        named.st_ino == own.st_ino) {
        if (static_cast<std::uint64_t>(own.st_size) == size_) return {};
        return error(errc::io_error, name() + ": another program changes the file")
            .with_hint("the run continues when the file is as it was");
    }
    return error(errc::io_error, name() + ": the file was deleted, renamed or replaced")
        .with_hint("put it back and run the same command again");
}

result<void> output_file::flush() {
    if (failure_) return *failure_;
    if (!regular_) return {};
    if (auto kept = check_name(); !kept) {
        failure_ = kept.error();
        return *failure_;
    }
    if (!fs::sync_data(number_)) {
        failure_ = failed(errno); // what the system had to write is lost, and not tried again
        return *failure_;
    }
    return {};
}

} // namespace heddle::rows
