// Loaded before the system's library: names that end in ".hangs.test" take ten minutes to look up.
#include <cstring>

#include <dlfcn.h>
#include <netdb.h>
#include <unistd.h>

// The rest of the project hides its symbols.
#pragma GCC visibility push(default)

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** found) {
    constexpr const char* ending = ".hangs.test";
    constexpr unsigned ten_minutes = 600;
    const std::size_t length = node == nullptr ? 0 : std::strlen(node);
    if (length > std::strlen(ending) &&
        std::strcmp(node + length - std::strlen(ending), ending) == 0) {
        ::sleep(ten_minutes);
        return EAI_AGAIN;
    }
    using original = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static const auto next = reinterpret_cast<original>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return next(node, service, hints, found);
}

#pragma GCC visibility pop
