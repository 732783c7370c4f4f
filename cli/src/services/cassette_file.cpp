#include "services/cassette_file.hpp"

#include "input_files.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

constexpr std::size_t max_recording_bytes = 1 << 30;

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
    return read_input_file(path, max_recording_bytes);
}

} // namespace heddle::cli
