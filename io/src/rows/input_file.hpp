// The decompressed bytes of one input file.
#pragma once

#include "rows/decompressor.hpp"
#include "rows/interruption.hpp"

#include <heddle/base/error.hpp>
#include <heddle/fs/descriptor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::rows {

/// What a path leads to.
struct input_kind {
    bool regular = false;
    std::uint64_t bytes = 0; ///< of a regular file
};

/// Errors: not_found, io_error (not readable), invalid_argument (a folder). "-" is
/// `standard_input`.
[[nodiscard]] result<input_kind> examine_input(const std::string& file, int standard_input);

/// "standard input" for "-".
[[nodiscard]] std::string shown_file(const std::string& file);

/// Threads: one. `stop` and `bytes_read` outlive it.
class input_file {
public:
    /// `bytes_read` counts what is read of the file itself; it may be null.
    [[nodiscard]] static result<input_file> open(const std::string& file, int standard_input,
                                                 const interruption& stop,
                                                 std::atomic<std::uint64_t>* bytes_read);

    /// The next bytes, valid until the next call; none at the end. Errors: io_error (a read failed,
    /// damaged or truncated compression), cancelled.
    [[nodiscard]] result<std::string_view> next();
    /// Number of bytes of the file that were read but not used, given that `left` bytes of the last
    /// result of next() were not used. Estimated by the mean ratio for compressed files.
    [[nodiscard]] std::uint64_t unused(std::size_t left) const noexcept;

private:
    input_file(std::string file, int standard_input, const interruption& stop,
               std::atomic<std::uint64_t>* bytes_read);
    [[nodiscard]] result<void> fill();
    [[nodiscard]] error failed(std::string what) const;
    [[nodiscard]] error ends_too_early() const;

    std::string file_;
    fs::descriptor own_;
    int number_ = -1;
    bool regular_ = false;
    bool begun_ = false;
    bool ended_ = false;
    std::uint64_t position_ = 0;
    std::uint64_t decompressed_ = 0; ///< bytes that came out so far
    const interruption* stop_;
    std::atomic<std::uint64_t>* bytes_read_;
    std::vector<char> buffer_;
    std::string_view rest_; ///< of the buffer
    std::unique_ptr<decompressor> decompressor_;
    const char* problem_ = nullptr; ///< with the compressed data; literals of the libraries
};

} // namespace heddle::rows
