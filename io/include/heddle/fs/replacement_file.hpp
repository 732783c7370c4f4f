// A file that takes the place of another one in one step.
#pragma once

#include <heddle/fs/descriptor.hpp>

#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/types.h>

namespace heddle::fs {

/// Writes all bytes: repeats after a short write and after a signal. Result: false with `errno`,
/// when a part of the bytes may have been written. Blocks for as long as the file does.
[[nodiscard]] bool write_all(int file, std::string_view bytes) noexcept;

/// The new content of a file, under an unforeseeable name next to it until take_place(): a reader
/// sees the old content or all of the new. Without a successful take_place() the destructor deletes
/// it, so that whatever fails before leaves the old content. A function that fails returns false
/// and leaves the reason in `errno`. Blocks for as long as the file system does. One thread at a
/// time.
class replacement_file {
public:
    /// Creates the file; is_open() is false if that fails, with the reason in `errno`. The name
    /// `target` need not exist; a link of that name is replaced, not followed. It is relative to
    /// the open directory `folder`, which must outlive this. `mode` is that of the new file,
    /// less the umask.
    explicit replacement_file(std::string target, mode_t mode = 0600, int folder = AT_FDCWD);
    replacement_file(const replacement_file&) = delete;
    replacement_file& operator=(const replacement_file&) = delete;
    ~replacement_file();

    [[nodiscard]] bool is_open() const noexcept { return file_.open(); }
    /// The name until take_place(), for messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Sets the permissions, whatever the umask.
    [[nodiscard]] bool set_mode(mode_t mode) noexcept;
    [[nodiscard]] bool write(std::string_view bytes) noexcept;
    /// Waits until the content is on the disk, as sync_file(). Without it a crash of the machine
    /// may leave the target empty.
    [[nodiscard]] bool sync() noexcept;
    /// Replaces the target and closes the file; call nothing after it. The target's new name is on
    /// the disk after sync_folder_of().
    [[nodiscard]] bool take_place() noexcept;

private:
    int folder_;
    std::string target_;
    std::string name_;
    descriptor file_;
    bool is_unfinished_ = false; ///< the name is to be deleted
};

} // namespace heddle::fs
