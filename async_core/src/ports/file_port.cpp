#include <heddle/ports/file_port.hpp>

#include <filesystem>

namespace heddle::ports {

coro::task<result<std::vector<std::string>>> file_port::names_of(std::vector<std::string> paths,
                                                                 coro::call_context) {
    for (std::string& path : paths) path = std::filesystem::path(path).lexically_normal().string();
    co_return paths;
}

} // namespace heddle::ports
