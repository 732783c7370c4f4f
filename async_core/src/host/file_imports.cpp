#include <heddle/host/import_port.hpp>

#include <filesystem>

namespace heddle::host {

namespace {

class file_imports final : public import_port {
public:
    explicit file_imports(ports::file_port& files) : files_(files) {}

    coro::task<result<imported_source>> load(std::string path, std::string from,
                                             coro::call_context context) override {
        const std::filesystem::path folder = std::filesystem::path(from).parent_path();
        const std::string name = (folder / path).lexically_normal().string();
        result<std::string> text = co_await files_.read(name, context);
        if (!text) co_return std::move(text).error();
        co_return imported_source{name, *std::move(text)};
    }

private:
    ports::file_port& files_;
};

} // namespace

std::unique_ptr<import_port> make_file_imports(ports::file_port& files) {
    return std::make_unique<file_imports>(files);
}

} // namespace heddle::host
