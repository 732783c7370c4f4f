#include "own_children.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/fs/descriptor.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heddle::process {

namespace {

constexpr const char* list_of_kernel = "/proc/thread-self/children";

class open_file {
public:
    open_file(const char* path, int flags) noexcept
        : file_(::open(path, flags | O_RDONLY | O_CLOEXEC)) {}

    [[nodiscard]] bool good() const noexcept { return file_.open(); }
    [[nodiscard]] int number() const noexcept { return file_.get(); }
    [[nodiscard]] ssize_t read(char* into, std::size_t size) const noexcept {
        ssize_t got = 0;
        do got = ::read(file_.get(), into, size);
        while (got < 0 && errno == EINTR);
        return got;
    }

private:
    fs::descriptor file_;
};

/// The number at the beginning; 0: there is none.
[[nodiscard]] pid_t number_at(const char* text) noexcept {
    pid_t number = 0;
    for (; ascii::is_digit(*text); ++text) number = number * 10 + (*text - '0');
    return number;
}

/// Of the process whose folder in /proc has that name; 0: there is none any more.
[[nodiscard]] pid_t parent_of(const char* name) noexcept {
    std::array<char, 64> path{"/proc/"};
    if (std::strlen(name) > 20) return 0;
    std::strcat(std::strcat(path.data(), name), "/stat");
    const open_file file(path.data(), 0);
    std::array<char, 512> text{};
    if (!file.good() || file.read(text.data(), text.size() - 1) <= 0) return 0;
    // "PID (NAME) STATE PARENT …", and the name may hold anything.
    const char* const end = std::strrchr(text.data(), ')');
    return end != nullptr && std::strlen(end) > 4 ? number_at(end + 4) : 0;
}

/// As the kernel fills it in (getdents64).
struct entry_head {
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t size;
    std::uint8_t type;
};
constexpr std::size_t name_offset = 19; // of an entry; the struct has room behind the type

} // namespace

int for_each_listed_child(child_visitor visit, void* given) noexcept {
    const open_file file(list_of_kernel, 0);
    if (!file.good()) return -1;
    std::array<char, 4096> piece;
    int count = 0;
    pid_t number = 0;
    for (;;) {
        const ssize_t got = file.read(piece.data(), piece.size());
        if (got <= 0) return count;
        for (ssize_t i = 0; i < got; ++i) {
            const char c = piece[static_cast<std::size_t>(i)];
            if (ascii::is_digit(c)) {
                number = number * 10 + (c - '0');
            } else if (number != 0) {
                visit(number, given);
                ++count;
                number = 0;
            }
        }
    }
}

int for_each_child_by_parent(child_visitor visit, void* given) noexcept {
    const open_file folder("/proc", O_DIRECTORY);
    if (!folder.good()) return -1;
    const pid_t self = ::getpid();
    bool found_self = false; // else it is some folder
    alignas(entry_head) std::array<char, 8192> piece;
    int count = 0;
    for (;;) {
        const long got = ::syscall(SYS_getdents64, folder.number(), piece.data(), piece.size());
        if (got <= 0) break;
        for (long at = 0; at < got;) {
            const char* const entry = piece.data() + at;
            entry_head head;
            std::memcpy(&head, entry, sizeof head);
            at += head.size;
            const char* const name = entry + name_offset;
            if (!ascii::is_digit(*name)) continue;
            const pid_t process = number_at(name);
            found_self = found_self || process == self;
            if (parent_of(name) != self) continue;
            visit(process, given);
            ++count;
        }
    }
    return found_self ? count : -1;
}

int for_each_child(child_visitor visit, void* given) noexcept {
    const int listed = for_each_listed_child(visit, given);
    return listed >= 0 ? listed : for_each_child_by_parent(visit, given);
}

bool knows_own_children() noexcept {
    return ::access(list_of_kernel, R_OK) == 0 || ::access("/proc/self/stat", R_OK) == 0;
}

} // namespace heddle::process
