#include "services/cassette_file.hpp"

#include <heddle/fs/replacement_file.hpp>
#include <heddle/setup/input_files.hpp>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::setup {

namespace {

constexpr std::size_t max_recording_bytes = 1 << 30;

error failed(const std::string& path) {
    return error(errno == ENOENT ? errc::not_found : errc::io_error,
                 path + ": " + std::strerror(errno));
}

} // namespace

result<std::unique_ptr<cassette_file>> cassette_file::create(const std::string& path) {
    constexpr int usual = O_WRONLY | O_APPEND | O_CLOEXEC;
    fs::descriptor file(::open(path.c_str(), usual | O_CREAT | O_EXCL, 0600));
    const bool is_new = file.open();
    if (!is_new && errno != EEXIST) return failed(path);
    if (!is_new) {
        HEDDLE_TRY(const int existing, open_existing_output(path, O_APPEND));
        file = fs::descriptor(existing);
    }
    struct stat about {};
    const bool is_file = ::fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode);
    // Held until the descriptor is closed.
    if (is_file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        const int why = errno;
        return error(errc::io_error,
                     path + (why == EWOULDBLOCK
                                 ? ": another run records into it"
                                 : ": cannot be locked: " + std::string(std::strerror(why))))
            .with_hint("name another file for the recording");
    }
    if (is_file && (about.st_mode & 0077) != 0 && ::fchmod(file.get(), 0600) != 0) {
        const int why = errno;
        return error(errc::io_error, path +
                                         ": others may read it, and it cannot be closed to them: " +
                                         std::strerror(why))
            .with_hint("name another file for the recording");
    }
    const bool holds_earlier = is_file && about.st_size > 0;
    return std::unique_ptr<cassette_file>(
        new cassette_file(path, std::move(file), is_new, holds_earlier));
}

cassette_file::~cassette_file() {
    if (is_new_ && !begun_) ::unlink(path_.c_str());
}

result<void> cassette_file::write(std::string_view line) {
    if (!begun_ && header_.empty()) {
        header_ = line;
        return {};
    }
    HEDDLE_CHECK(begin());
    return append(line);
}

result<void> cassette_file::finish() {
    if (keeps_earlier()) return {};
    return begin();
}

result<void> cassette_file::begin() {
    if (begun_) return {};
    // A pipe or a terminal has no earlier recording.
    if (::ftruncate(file_.get(), 0) != 0 && errno != EINVAL) return failed(path_);
    begun_ = true;
    return append(header_);
}

result<void> cassette_file::append(std::string_view line) {
    if (!fs::write_all(file_.get(), line)) {
        error why = failed(path_);
        (void)!::ftruncate(file_.get(), whole_); // a pipe cannot take anything back
        return why;
    }
    whole_ += static_cast<std::int64_t>(line.size());
    return {};
}

result<std::string> read_recording(const std::string& path) {
    return read_input_file(path, max_recording_bytes);
}

} // namespace heddle::setup
