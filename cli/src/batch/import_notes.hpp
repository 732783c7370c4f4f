// What a program has imported.
#pragma once

#include <heddle/host/import_port.hpp>

#include <map>
#include <string>
#include <utility>

namespace heddle::cli {

/// Passes imports on and notes what was found. Threads: the loop's.
class import_notes final : public host::import_port {
public:
    /// `behind` outlives it.
    explicit import_notes(host::import_port& behind) : behind_(behind) {}

    [[nodiscard]] coro::task<result<host::imported_source>> load(
        std::string path, std::string from, coro::call_context context) override {
        result<host::imported_source> found =
            co_await behind_.load(std::move(path), std::move(from), context);
        if (found && keeps_) texts_[found->name] = found->text;
        co_return found;
    }

    /// Texts by the names of their files.
    [[nodiscard]] const std::map<std::string, std::string>& texts() const noexcept {
        return texts_;
    }
    /// From now on nothing is noted, and the texts are gone.
    void close() noexcept {
        keeps_ = false;
        texts_.clear();
    }

private:
    host::import_port& behind_;
    std::map<std::string, std::string> texts_;
    bool keeps_ = true;
};

} // namespace heddle::cli
