#include "rows/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::rows {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{128} * 1024;

error unreadable(const std::string& file, int why) {
    if (why == ENOENT || why == ENOTDIR)
        return error(errc::not_found, file + ": no such file").with_hint("check the path");
    error failure(errc::io_error, file + ": " + std::strerror(why));
    if (why == EACCES || why == EPERM)
        return std::move(failure).with_hint("the file and its folders must be readable");
    return failure;
}

result<input_kind> kind_of(const std::string& file, int number) {
    struct stat about {};
    if (::fstat(number, &about) != 0) return unreadable(shown_file(file), errno);
    if (S_ISDIR(about.st_mode))
        return error(errc::invalid_argument, shown_file(file) + ": a folder, not a file of rows")
            .with_hint("name the files in it, for example with " + file + "/*.jsonl");
    if (!S_ISREG(about.st_mode)) return input_kind{};
    return input_kind{true, static_cast<std::uint64_t>(about.st_size)};
}

// Without waiting for the writer of a pipe: the wait for data can be interrupted, this cannot.
int open_file(const std::string& file) {
    return ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

} // namespace

std::string shown_file(const std::string& file) { return file == "-" ? "standard input" : file; }

result<input_kind> examine_input(const std::string& file, int standard_input) {
    if (file == "-") return kind_of(file, standard_input);
    struct stat about {};
    if (::stat(file.c_str(), &about) != 0) return unreadable(file, errno);
    if (S_ISFIFO(about.st_mode)) return input_kind{}; // a writer would see that it is opened
    const fs::descriptor opened(open_file(file));
    if (!opened.open()) return unreadable(file, errno);
    return kind_of(file, opened.get());
}

input_file::input_file(std::string file, int standard_input, const interruption& stop,
                       std::atomic<std::uint64_t>* bytes_read)
    : file_(std::move(file)), own_(file_ == "-" ? -1 : open_file(file_)),
      number_(file_ == "-" ? standard_input : own_.get()), stop_(&stop), bytes_read_(bytes_read),
      buffer_(buffer_bytes) {}

result<input_file> input_file::open(const std::string& file, int standard_input,
                                    const interruption& stop,
                                    std::atomic<std::uint64_t>* bytes_read) {
    input_file opened(file, standard_input, stop, bytes_read);
    if (opened.number_ < 0) return unreadable(file, errno);
    HEDDLE_TRY(const input_kind kind, kind_of(file, opened.number_));
    opened.regular_ = kind.regular;
    return opened;
}

error input_file::failed(std::string what) const {
    return error(errc::io_error, shown_file(file_) + ": " + std::move(what));
}

error input_file::ends_too_early() const {
    return failed("the compressed data end too early, after byte " + std::to_string(position_))
        .with_hint("the file was not copied or written completely; make it again");
}

/// Reads once. At the end of the file nothing is added.
result<void> input_file::fill() {
    while (!ended_) {
        if (stop_->requested()) return error::cancelled(cancel_reason::user);
        if (!regular_ && !stop_->wait_for(number_)) return error::cancelled(cancel_reason::user);
        // What is left is at most the beginning of a magic number.
        std::copy(rest_.begin(), rest_.end(), buffer_.begin());
        const ssize_t got =
            ::read(number_, buffer_.data() + rest_.size(), buffer_.size() - rest_.size());
        if (got < 0) {
            if (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK) continue;
            return failed(std::strerror(errno));
        }
        const auto size = static_cast<std::size_t>(got);
        rest_ = {buffer_.data(), rest_.size() + size};
        ended_ = size == 0;
        position_ += size;
        if (bytes_read_) bytes_read_->fetch_add(size, std::memory_order_relaxed);
        return {};
    }
    return {};
}

result<std::string_view> input_file::next() {
    if (!begun_) {
        // Rows from a pipe that pauses are not held back for the rest of a magic number.
        while (!ended_ && may_become_compressed(rest_)) HEDDLE_CHECK(fill());
        // A part of a magic number, or nothing: what was compressed is never empty.
        const bool is_cut = compression_of(rest_) == compression::none &&
                            may_become_compressed(rest_) && has_compressed_name(file_);
        if (is_cut) return ends_too_early();
        decompressor_ = make_decompressor(compression_of(rest_));
        begun_ = true;
    }
    if (!decompressor_) {
        if (rest_.empty()) HEDDLE_CHECK(fill());
        return std::exchange(rest_, {});
    }
    for (;;) {
        if (stop_->requested()) return error::cancelled(cancel_reason::user);
        const std::size_t before = rest_.size();
        if (!problem_) {
            const decompressor::step done = decompressor_->next(rest_);
            problem_ = done.problem;
            // What came out before the damage is good.
            decompressed_ += done.out.size();
            if (!done.out.empty()) return done.out;
        }
        if (problem_)
            return failed("damaged compressed data before byte " + std::to_string(position_) +
                          ": " + problem_)
                .with_hint("check the file with gzip -t or zstd -t, and make it again");
        if (rest_.size() != before) continue;
        if (ended_) {
            if (decompressor_->whole()) return std::string_view();
            return ends_too_early();
        }
        HEDDLE_CHECK(fill());
    }
}

std::uint64_t input_file::unused(std::size_t left) const noexcept {
    if (!decompressor_) return rest_.size() + left;
    if (decompressed_ == 0) return rest_.size();
    const double taken = static_cast<double>(position_ - rest_.size());
    const double share = static_cast<double>(left) / static_cast<double>(decompressed_);
    return rest_.size() + static_cast<std::uint64_t>(taken * share);
}

} // namespace heddle::rows
