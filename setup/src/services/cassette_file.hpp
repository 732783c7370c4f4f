// The file of a recording.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/fs/descriptor.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::setup {

/// A file for a recording, readable by its owner only, because it contains prompts and responses.
/// Each line is written at once, so that a killed run leaves whole lines, and an incomplete line is
/// removed if the disk is full: the lines before it can be replayed. An earlier recording is kept
/// until the first call of this one has ended, so that a run that makes none does not destroy a
/// paid recording.
class cassette_file {
public:
    /// Creates the file, or opens it unchanged. Errors: io_error.
    [[nodiscard]] static result<std::unique_ptr<cassette_file>> create(const std::string& path);
    ~cassette_file();
    cassette_file(const cassette_file&) = delete;
    cassette_file& operator=(const cassette_file&) = delete;

    /// The first line is the header, which is written with the second.
    [[nodiscard]] result<void> write(std::string_view line);
    /// The run has succeeded: without a call, and where there is no earlier recording, the file
    /// becomes a recording of no call.
    [[nodiscard]] result<void> finish();
    /// Whether the run has left an earlier recording as it was.
    [[nodiscard]] bool keeps_earlier() const noexcept { return !begun_ && holds_earlier_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    cassette_file(std::string path, fs::descriptor file, bool is_new, bool holds_earlier)
        : path_(std::move(path)), file_(std::move(file)), is_new_(is_new),
          holds_earlier_(holds_earlier) {}
    /// Replaces an earlier recording, unless it was replaced already.
    [[nodiscard]] result<void> begin();
    /// Writes a whole line or nothing.
    [[nodiscard]] result<void> append(std::string_view line);

    std::string path_;
    std::string header_;
    std::int64_t whole_ = 0; ///< bytes of whole lines
    fs::descriptor file_;
    bool is_new_;
    bool holds_earlier_;
    bool begun_ = false;
};

/// The text of a recording. Errors: not_found, io_error, limit_exceeded (1 GB).
[[nodiscard]] result<std::string> read_recording(const std::string& path);

} // namespace heddle::setup
