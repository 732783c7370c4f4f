// Loaded before the system's library: kills the process at the N-th call that changes what is in a
// directory whose name HEDDLE_KILL_BELOW is part of, N being HEDDLE_KILL_AT.
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

template <class Function>
[[nodiscard]] Function* next_of(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

[[nodiscard]] bool is_below(const char* path) {
    const char* const part = std::getenv("HEDDLE_KILL_BELOW");
    return part != nullptr && path != nullptr && std::strstr(path, part) != nullptr;
}

/// Before a change, so that each state between two of them is what a kill leaves once.
void note_change() {
    static long left = [] {
        const char* const at = std::getenv("HEDDLE_KILL_AT");
        return at == nullptr ? 0L : std::strtol(at, nullptr, 10);
    }();
    if (__atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) != 0) return;
    ::kill(::getpid(), SIGKILL);
}

void note_change_of(int file) {
    char path[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    if (::readlink(link.c_str(), path, sizeof path - 1) > 0 && is_below(path)) note_change();
}

} // namespace

// The rest of the project hides its symbols.
#pragma GCC visibility push(default)

extern "C" int mkdir(const char* path, mode_t mode) {
    if (is_below(path)) note_change();
    static const auto next = next_of<int(const char*, mode_t)>("mkdir");
    return next(path, mode);
}

extern "C" int open(const char* path, int flags, ...) {
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
        if (is_below(path)) note_change();
    }
    static const auto next = next_of<int(const char*, int, ...)>("open");
    return next(path, flags, mode);
}

extern "C" int open64(const char* path, int flags, ...) {
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
        if (is_below(path)) note_change();
    }
    static const auto next = next_of<int(const char*, int, ...)>("open64");
    return next(path, flags, mode);
}

extern "C" int rename(const char* from, const char* to) {
    if (is_below(to)) note_change();
    static const auto next = next_of<int(const char*, const char*)>("rename");
    return next(from, to);
}

extern "C" int unlink(const char* path) {
    if (is_below(path)) note_change();
    static const auto next = next_of<int(const char*)>("unlink");
    return next(path);
}

extern "C" int fchmod(int file, mode_t mode) {
    note_change_of(file);
    static const auto next = next_of<int(int, mode_t)>("fchmod");
    return next(file, mode);
}

extern "C" int ftruncate(int file, off_t size) {
    note_change_of(file);
    static const auto next = next_of<int(int, off_t)>("ftruncate");
    return next(file, size);
}

extern "C" ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
    note_change_of(file);
    static const auto next = next_of<ssize_t(int, const void*, size_t, off_t)>("pwrite");
    return next(file, bytes, count, at);
}

extern "C" ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
    note_change_of(file);
    static const auto next = next_of<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
    return next(file, bytes, count, at);
}

extern "C" ssize_t write(int file, const void* bytes, size_t count) {
    note_change_of(file);
    static const auto next = next_of<ssize_t(int, const void*, size_t)>("write");
    return next(file, bytes, count);
}

#pragma GCC visibility pop
