#include <heddle/setup/input_files.hpp>

#include <heddle/fs/descriptor.hpp>
#include <heddle/fs/replacement_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

namespace heddle::setup {

namespace {

struct closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

struct free_text {
    void operator()(char* text) const noexcept { std::free(text); }
};
using malloced_text = std::unique_ptr<char, free_text>;

error file_error(const std::string& path, std::string_view what) {
    const auto code = errno == ENOENT ? errc::not_found : errc::io_error;
    return error(code, path + ": " + std::string(what) + ": " + std::strerror(errno));
}

result<std::string> read_stream(int stream, const std::string& name, std::size_t max_bytes) {
    std::string text;
    std::array<char, 64 * 1024> piece;
    for (;;) {
        const ssize_t count = ::read(stream, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return file_error(name, "cannot be read");
        if (count == 0) return text;
        text.append(piece.data(), static_cast<std::size_t>(count));
        if (text.size() > max_bytes) {
            return error(errc::limit_exceeded,
                         name + ": is larger than " + std::to_string(max_bytes >> 20) + " MB");
        }
    }
}

/// Names of what whoever started the program has opened for it.
bool names_open_stream(std::string_view path) noexcept {
    return path == "/dev/stdin" || path.starts_with("/dev/fd/") ||
           path.starts_with("/proc/self/fd/");
}

bool names_open_output(std::string_view path) noexcept {
    return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
           path.starts_with("/proc/self/fd/");
}

/// What of a file cannot be read as one.
std::optional<error> not_a_file(const std::string& path, const struct stat& about) {
    constexpr unsigned null_major = 1; // Documentation/admin-guide/devices.txt of Linux
    constexpr unsigned null_minor = 3;
    if (S_ISREG(about.st_mode)) return std::nullopt;
    if (S_ISDIR(about.st_mode)) return error(errc::io_error, path + ": is a directory");
    if (S_ISCHR(about.st_mode) && about.st_rdev == makedev(null_major, null_minor)) {
        return std::nullopt;
    }
    return error(errc::io_error, path + ": is a pipe, a socket or a device, and no file")
        .with_hint("give - and feed it to standard input");
}

constexpr int to_read = O_RDONLY | O_CLOEXEC | O_NOCTTY;

} // namespace

result<std::string> read_input_file(const std::string& path, std::size_t max_bytes) {
    if (path == "-") return read_stream(STDIN_FILENO, "standard input", max_bytes);
    if (!names_open_stream(path)) return read_stored_file(path, max_bytes);
    const fs::descriptor file(::open(path.c_str(), to_read));
    if (file.get() < 0) return file_error(path, "cannot be opened");
    return read_stream(file.get(), path, max_bytes);
}

result<std::string> read_stored_file(const std::string& path, std::size_t max_bytes) {
    if (names_open_stream(path))
        return error(errc::io_error, path + ": is a stream, which can be read only once");
    // O_NONBLOCK: to open a pipe must not wait for its writer. Regular files do not care; for a
    // stream it would be an error to find nothing there yet.
    const fs::descriptor file(::open(path.c_str(), to_read | O_NONBLOCK));
    if (file.get() < 0) return file_error(path, "cannot be opened");
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) return file_error(path, "cannot be read");
    if (auto failure = not_a_file(path, about)) return *std::move(failure);
    return read_stream(file.get(), path, max_bytes);
}

result<std::string> read_checked_file(const std::string& path, std::size_t max_bytes,
                                      const file_check& check) {
    const fs::descriptor file(::open(path.c_str(), to_read | O_NONBLOCK | O_NOFOLLOW));
    if (file.get() < 0) return file_error(path, "cannot be opened");
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) return file_error(path, "cannot be read");
    if (auto failure = not_a_file(path, about)) return *std::move(failure);
    HEDDLE_CHECK(check(file.get(), about));
    return read_stream(file.get(), path, max_bytes);
}

result<std::shared_ptr<scripted::engine>> load_rules(const std::string& path) {
    auto text = read_input_file(path);
    if (!text) return std::move(text).error();
    return scripted::engine::parse(*text, path);
}

namespace {

/// Writes all of `text` under another name, sets the `mode` of that file, otherwise that of
/// new files, and moves it to `path`.
result<void> write_and_move(const std::string& path, const std::string& text,
                            std::optional<mode_t> mode) {
    fs::replacement_file fresh(path, mode ? S_IRUSR | S_IWUSR : 0666);
    // Without sync() a crash of the machine may leave the name with an empty file behind it.
    if (!fresh.is_open() || !fresh.write(text) || (mode && !fresh.set_mode(*mode)) ||
        !fresh.sync() || !fresh.take_place()) {
        return file_error(path, "cannot be written");
    }
    return {};
}

} // namespace

result<int> open_existing_output(const std::string& path, int flags, const stop_check& stop) {
    using clock = std::chrono::steady_clock;
    constexpr auto time_of_readers = std::chrono::seconds(2);
    constexpr auto pause = std::chrono::milliseconds(10);
    const auto give_up = clock::now() + time_of_readers;
    for (;;) {
        // Without O_NONBLOCK the opening of a pipe would wait for its reader, whatever signal
        // comes.
        const int created =
            ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
        if (created >= 0) {
            const int now = ::fcntl(created, F_GETFL);
            if (now >= 0 && ::fcntl(created, F_SETFL, now & ~O_NONBLOCK) == 0) return created;
            error failure = file_error(path, "cannot be written");
            ::close(created);
            return failure;
        }
        const int why = errno;
        if (why == EINTR) continue;
        if (why == EISDIR) {
            return error(errc::io_error, path + ": is a directory").with_hint("name a file in it");
        }
        const error failure = file_error(path, "cannot be written");
        struct stat about {};
        if (why != ENXIO || ::stat(path.c_str(), &about) != 0 || !S_ISFIFO(about.st_mode)) {
            return failure;
        }
        if (clock::now() >= give_up) {
            return error(errc::io_error, path + ": no program reads this pipe")
                .with_hint("start its reader first");
        }
        if (stop && stop()) return error::cancelled(cancel_reason::user);
        std::this_thread::sleep_for(pause);
    }
}

namespace {

result<void> write_in_place(const std::string& path, const std::string& text, int flags,
                            const stop_check& stop) {
    HEDDLE_TRY(const int number, open_existing_output(path, flags, stop));
    const fs::descriptor file(number);
    if (!fs::write_all(file.get(), text)) return file_error(path, "cannot be written");
    return {};
}

/// Where symbolic links lead that lead to nothing yet.
result<std::string> end_of_links(const std::string& path) {
    constexpr int max_links = 40; // as the kernel has it
    std::filesystem::path at(path);
    std::error_code failed;
    for (int links = 0; std::filesystem::is_symlink(at, failed); ++links) {
        const std::filesystem::path target = std::filesystem::read_symlink(at, failed);
        if (failed || links == max_links) {
            errno = failed ? failed.value() : ELOOP;
            return file_error(path, "cannot be written");
        }
        at = at.parent_path() / target;
    }
    return at.string();
}

} // namespace

result<void> write_output_file(const std::string& path, const std::string& text,
                               const stop_check& stop) {
    if (names_open_output(path)) return write_in_place(path, text, O_APPEND, stop);
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) {
        if (errno != ENOENT) return file_error(path, "cannot be written");
        HEDDLE_TRY(const std::string target, end_of_links(path));
        return write_and_move(target, text, std::nullopt);
    }
    if (!S_ISREG(about.st_mode)) return write_in_place(path, text, 0, stop);
    const malloced_text target(::realpath(path.c_str(), nullptr));
    if (!target) return file_error(path, "cannot be written");
    return write_and_move(target.get(), text, about.st_mode & 07777);
}

result<void> write_private_file(const std::string& path, const std::string& text) {
    return write_and_move(path, text, 0600);
}

result<void> write_new_file(const std::string& path, const std::string& text) {
    const file_handle file(std::fopen(path.c_str(), "wbx")); // x: never over what is there
    if (!file) {
        if (errno == EEXIST) {
            return error(errc::invalid_argument, path + " already exists")
                .with_hint("delete it first, or name another file with --output");
        }
        return file_error(path, "cannot be written");
    }
    const bool whole = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                       std::fflush(file.get()) == 0;
    if (whole) return {};
    const error failure = file_error(path, "cannot be written");
    ::unlink(path.c_str());
    return failure;
}

result<void> replace_file(const std::string& path, const std::string& text) {
    const malloced_text target(::realpath(path.c_str(), nullptr));
    struct stat about {};
    if (!target || ::stat(target.get(), &about) != 0) return file_error(path, "cannot be written");
    if (!S_ISREG(about.st_mode)) {
        return error(errc::io_error, path + ": not a regular file")
            .with_hint("give - to read standard input and to write standard output");
    }
    if (::access(target.get(), W_OK) != 0) return file_error(path, "cannot be written");
    return write_and_move(target.get(), text, about.st_mode & 07777);
}

} // namespace heddle::setup
