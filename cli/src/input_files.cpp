#include "input_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace heddle::cli {

namespace {

constexpr std::size_t largest_file = 64 * 1024 * 1024;

struct closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

error file_error(const std::string& path, std::string_view what) {
    const auto code = errno == ENOENT ? errc::not_found : errc::io_error;
    return error(code, path + ": " + std::string(what) + ": " + std::strerror(errno));
}

result<std::string> read_stream(std::FILE* stream, const std::string& name) {
    std::string text;
    char piece[16 * 1024];
    while (const std::size_t count = std::fread(piece, 1, sizeof piece, stream)) {
        text.append(piece, count);
        if (text.size() > largest_file) {
            return error(errc::limit_exceeded, name + ": is larger than 64 MB");
        }
    }
    if (std::ferror(stream) != 0) return file_error(name, "cannot be read");
    return text;
}

} // namespace

result<std::string> read_input_file(const std::string& path) {
    if (path == "-") return read_stream(stdin, "standard input");
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
        return error(errc::io_error, path + ": is a directory");
    }
    const file_handle file(std::fopen(path.c_str(), "rb"));
    if (!file) return file_error(path, "cannot be opened");
    return read_stream(file.get(), path);
}

result<std::shared_ptr<providers::scripted::engine>> load_rules(const std::string& path) {
    auto text = read_input_file(path);
    if (!text) return std::move(text).error();
    return providers::scripted::engine::parse(*text, path);
}

namespace {

/// Writes all of `text` under another name, gives that file `mode` and moves it to `path`.
result<void> write_and_move(const std::string& path, const std::string& text,
                            std::optional<mode_t> mode) {
    const std::string unfinished = path + ".part-" + std::to_string(::getpid());
    const auto give_up = [&] {
        const error failure = file_error(path, "cannot be written");
        ::unlink(unfinished.c_str());
        return failure;
    };
    std::FILE* opened = std::fopen(unfinished.c_str(), "wb");
    if (!opened) return file_error(path, "cannot be written");
    file_handle file(opened);
    if (std::fwrite(text.data(), 1, text.size(), opened) != text.size()) return give_up();
    if (mode && ::fchmod(::fileno(opened), *mode) != 0) return give_up();
    if (std::fclose(file.release()) != 0) return give_up();
    if (std::rename(unfinished.c_str(), path.c_str()) != 0) return give_up();
    return {};
}

} // namespace

result<void> write_output_file(const std::string& path, const std::string& text) {
    return write_and_move(path, text, std::nullopt);
}

result<void> write_new_file(const std::string& path, const std::string& text) {
    const file_handle file(std::fopen(path.c_str(), "wbx")); // x: never over what is there
    if (!file) {
        if (errno == EEXIST) {
            return error(errc::invalid_argument, path + " is there already")
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
    struct free_text {
        void operator()(char* text) const noexcept { std::free(text); }
    };
    const std::unique_ptr<char, free_text> target(::realpath(path.c_str(), nullptr));
    struct stat about {};
    if (!target || ::stat(target.get(), &about) != 0) return file_error(path, "cannot be written");
    if (!S_ISREG(about.st_mode)) {
        return error(errc::io_error, path + ": is no regular file")
            .with_hint("give - to read standard input and to write standard output");
    }
    if (::access(target.get(), W_OK) != 0) return file_error(path, "cannot be written");
    return write_and_move(target.get(), text, about.st_mode & 07777);
}

} // namespace heddle::cli
