// A text file to which whole lines are appended.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/fs/descriptor.hpp>
#include <heddle/rows/result_writer.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::rows {

/// Threads: one. See result_writer for what it promises.
class output_file {
public:
    /// `beginning`: what each file of ours begins with. It is written to an empty file when it
    /// ends with a line feed, and one that begins otherwise is refused unless it is emptied.
    /// `broken_end`: ends a line of a stream that was interrupted at any place.
    [[nodiscard]] static result<output_file> open(const output_target& target,
                                                  std::string beginning,
                                                  std::string_view broken_end = "\n");

    /// Appends whole lines with one write, as far as the system permits.
    [[nodiscard]] result<void> append(std::string_view lines);
    [[nodiscard]] result<void> flush();
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// As result_writer::stream.
    [[nodiscard]] const std::string& stream() const noexcept { return stream_; }

private:
    explicit output_file(const output_target& target) : target_(target) {}
    [[nodiscard]] result<void> begin(const std::string& beginning, std::uint64_t bytes);
    [[nodiscard]] result<void> check_beginning(const std::string& beginning, std::uint64_t bytes);
    /// Whether the file has nothing but the header of its columns, or a part of it.
    [[nodiscard]] bool is_only(const std::string& beginning, std::uint64_t bytes);
    [[nodiscard]] result<std::uint64_t> end_of_lines(std::uint64_t bytes);
    [[nodiscard]] result<void> cut(std::uint64_t size);
    [[nodiscard]] result<void> check_name() const;
    [[nodiscard]] error failed(int why) const;
    [[nodiscard]] error refused(const std::string& what) const;
    [[nodiscard]] std::string name() const;

    output_target target_;
    fs::descriptor own_;
    int number_ = -1;
    bool regular_ = false;
    std::string stream_;  ///< empty: a regular file that can be cut
    std::string pending_; ///< ends a broken line there, before what is written first
    std::uint64_t size_ = 0;
    std::optional<error> failure_;
};

} // namespace heddle::rows
