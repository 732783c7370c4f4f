// A recording on disk.
#pragma once

#include <heddle/base/error.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::cli {

/// A new file for a recording, readable by its owner only: prompts and answers are in it. Each line is
/// handed to the system at once, so that a run that is killed leaves whole lines.
class cassette_file {
public:
    /// Replaces what was there. Errors: io_error.
    [[nodiscard]] static result<std::unique_ptr<cassette_file>> create(const std::string& path);
    ~cassette_file();
    cassette_file(const cassette_file&) = delete;
    cassette_file& operator=(const cassette_file&) = delete;

    [[nodiscard]] result<void> write(std::string_view line);

private:
    cassette_file(std::string path, int descriptor)
        : path_(std::move(path)), descriptor_(descriptor) {}

    std::string path_;
    int descriptor_;
};

/// The text of a recording. Errors: not_found, io_error, limit_exceeded (1 GB).
[[nodiscard]] result<std::string> read_recording(const std::string& path);

} // namespace heddle::cli
