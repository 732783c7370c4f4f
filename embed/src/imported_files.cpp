#include "imported_files.hpp"

#include "text_digest.hpp"

#include <system_error>
#include <utility>

namespace heddle::embed {

namespace {

using time_type = imported_files::time_type;

/// What the clock of a file system may lag behind the system's: some count interrupts of a timer.
constexpr std::chrono::milliseconds clock_lag{20};

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
        if (auto known = files_->find(path, from)) co_return *std::move(known);
        // What the port would name it, for a file that is missing: it may be written yet.
        std::string expected =
            (std::filesystem::path(from).parent_path() / path).lexically_normal().string();
        const time_type begun = time_type::clock::now();
        const time_type noted = imported_files::time_to_note(expected, begun);
        result<host::imported_source> loaded = co_await port_->load(path, from, context);
        if (!loaded || loaded->name == expected) files_->note(expected, noted);
        else files_->note(loaded->name, imported_files::time_to_note(loaded->name, begun));
        if (!loaded) co_return loaded;
        co_return files_->keep(path, from, *std::move(loaded));
    }

private:
    std::unique_ptr<host::import_port> port_;
    std::shared_ptr<imported_files> files_;
};

} // namespace

time_type imported_files::time_to_note(const std::string& file, time_type begun) {
    const time_type written = time_of(file);
    // (A time in the future is that of no change that comes.)
    if (written >= begun - clock_lag && written <= time_type::clock::now()) return time_type::min();
    return written;
}

void imported_files::note(const std::string& file, time_type noted) {
    const std::lock_guard held(mutex_);
    times_.emplace(file, noted);
}

std::optional<host::imported_source> imported_files::find(const std::string& path,
                                                          const std::string& from) const {
    const std::lock_guard held(mutex_);
    const auto name = names_.find({path, from});
    if (name == names_.end()) return std::nullopt;
    return host::imported_source{name->second, texts_.at(name->second)};
}

host::imported_source imported_files::keep(const std::string& path, const std::string& from,
                                           host::imported_source read) {
    const std::lock_guard held(mutex_);
    names_.try_emplace({path, from}, read.name);
    read.text = texts_.try_emplace(read.name, read.text).first->second;
    return read;
}

std::string imported_files::digest() const {
    const std::lock_guard held(mutex_);
    std::string all;
    for (const auto& [file, text] : texts_) all += digest_of_text(text) + '\n';
    return all;
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
