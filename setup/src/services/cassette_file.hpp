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
/// until the first call of this one has ended, so that a run that fails earlier does not destroy a
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
    /// Replaces an earlier recording, unless it was replaced already: a run without calls has
    /// succeeded.
    [[nodiscard]] result<void> begin();

private:
    cassette_file(std::string path, fs::descriptor file, bool is_new)
        : path_(std::move(path)), file_(std::move(file)), is_new_(is_new) {}
    /// Writes a whole line or nothing.
    [[nodiscard]] result<void> append(std::string_view line);

    std::string path_;
    std::string header_;
    std::int64_t whole_ = 0; ///< bytes of whole lines
    fs::descriptor file_;
    bool is_new_;
    bool begun_ = false;
};

/// The text of a recording. Errors: not_found, io_error, limit_exceeded (1 GB).
[[nodiscard]] result<std::string> read_recording(const std::string& path);

} // namespace heddle::setup
