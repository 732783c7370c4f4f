// A recording on disk.
#pragma once

#include <heddle/base/error.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::cli {

/// A file for a recording, readable by its owner only: prompts and answers are in it. Each line is
/// handed to the system at once, so that a run that is killed leaves whole lines, and what was
/// written of a line that does not fit is taken back: the lines before it can be replayed. An
/// earlier recording stays until the first call of this one has ended: a run that does not get so
/// far costs nobody a recording that was paid for.
class cassette_file {
public:
    /// Makes the file, or opens it as it is. Errors: io_error.
    [[nodiscard]] static result<std::unique_ptr<cassette_file>> create(const std::string& path);
    ~cassette_file();
    cassette_file(const cassette_file&) = delete;
    cassette_file& operator=(const cassette_file&) = delete;

    /// The first line is the header, which waits for the second.
    [[nodiscard]] result<void> write(std::string_view line);
    /// Replaces what was there, if that has not been done: a run without a call has ended well.
    [[nodiscard]] result<void> begin();

private:
    cassette_file(std::string path, int descriptor, bool is_new)
        : path_(std::move(path)), descriptor_(descriptor), is_new_(is_new) {}
    /// Writes a whole line or nothing.
    [[nodiscard]] result<void> append(std::string_view line);

    std::string path_;
    std::string header_;
    std::int64_t whole_ = 0; ///< bytes of whole lines
    int descriptor_;
    bool is_new_;
    bool begun_ = false;
};

/// The text of a recording. Errors: not_found, io_error, limit_exceeded (1 GB).
[[nodiscard]] result<std::string> read_recording(const std::string& path);

} // namespace heddle::cli
