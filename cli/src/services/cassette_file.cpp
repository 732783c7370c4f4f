#include "services/cassette_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

constexpr std::uintmax_t largest = 1024ULL * 1024 * 1024;

error failed(const std::string& path) {
    return error(errno == ENOENT ? errc::not_found : errc::io_error,
                 path + ": " + std::strerror(errno));
}

} // namespace

result<std::unique_ptr<cassette_file>> cassette_file::create(const std::string& path) {
    const int made =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (made < 0) return failed(path);
    return std::unique_ptr<cassette_file>(new cassette_file(path, made));
}

cassette_file::~cassette_file() { ::close(descriptor_); }

result<void> cassette_file::write(std::string_view line) {
    while (!line.empty()) {
        const ssize_t written = ::write(descriptor_, line.data(), line.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed(path_);
        line.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

result<std::string> read_recording(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return failed(path);
    if (static_cast<std::uintmax_t>(about.st_size) > largest) {
        return error(errc::limit_exceeded, path + ": the recording is larger than 1 GB");
    }
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) return failed(path);
    return text;
}

} // namespace heddle::cli
