#include "imported_files.hpp"

#include <system_error>
#include <utility>

namespace heddle::embed {

namespace {

using time_type = imported_files::time_type;

/// min() for a file that is missing.
time_type time_of(const std::string& file) {
    std::error_code failed;
    const time_type written = std::filesystem::last_write_time(file, failed);
    return failed ? time_type::min() : written;
}

class noted_imports final : public host::import_port {
public:
    noted_imports(std::unique_ptr<host::import_port> port, std::shared_ptr<imported_files> files)
        : port_(std::move(port)), files_(std::move(files)) {}

    coro::task<result<host::imported_source>> load(std::string path, std::string from,
                                                   coro::call_context context) override {
        // What the port would name it, for a file that is missing: it may be written yet.
        std::string expected =
            (std::filesystem::path(from).parent_path() / path).lexically_normal().string();
        const time_type begun = time_type::clock::now();
        result<host::imported_source> loaded =
            co_await port_->load(std::move(path), std::move(from), context);
        files_->note(loaded ? loaded->name : expected, begun);
        co_return loaded;
    }

private:
    std::unique_ptr<host::import_port> port_;
    std::shared_ptr<imported_files> files_;
};

} // namespace

void imported_files::note(const std::string& file, time_type begun) {
    time_type written = time_of(file);
    // It may have been written since it was read. (A time in the future is none of these.)
    if (written >= begun && written <= time_type::clock::now()) written = time_type::min();
    const std::lock_guard held(mutex_);
    times_.emplace(file, written);
}

bool imported_files::changed() const {
    const std::lock_guard held(mutex_);
    for (const auto& [file, noted] : times_) {
        if (time_of(file) != noted) return true;
    }
    return false;
}

std::unique_ptr<host::import_port> make_noted_imports(std::unique_ptr<host::import_port> port,
                                                      std::shared_ptr<imported_files> files) {
    return std::make_unique<noted_imports>(std::move(port), std::move(files));
}

} // namespace heddle::embed
