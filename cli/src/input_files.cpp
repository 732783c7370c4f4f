#include "input_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

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

result<void> write_output_file(const std::string& path, const std::string& text) {
    const std::string unfinished = path + ".part-" + std::to_string(::getpid());
    {
        const file_handle file(std::fopen(unfinished.c_str(), "wb"));
        if (!file) return file_error(path, "cannot be written");
        if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
            std::fflush(file.get()) != 0) {
            const error failure = file_error(path, "cannot be written");
            ::unlink(unfinished.c_str());
            return failure;
        }
    }
    if (std::rename(unfinished.c_str(), path.c_str()) != 0) {
        const error failure = file_error(path, "cannot be written");
        ::unlink(unfinished.c_str());
        return failure;
    }
    return {};
}

} // namespace heddle::cli
