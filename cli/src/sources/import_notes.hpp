// What a program has imported.
#pragma once

#include <heddle/host/import_port.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace heddle::cli {

/// What import_notes keeps.
enum class import_use : std::uint8_t {
    nothing,
    texts, ///< what was imported
    pinned ///< also for further imports: a file is read once, whatever becomes of it
};

/// Passes imports on and notes what was found. Threads: the loop's.
class import_notes final : public host::import_port {
public:
    /// Of files that are pinned; what comes after that is read again.
    static constexpr std::size_t max_pinned_bytes = std::size_t{64} << 20;

    /// `behind` outlives it.
    import_notes(host::import_port& behind, import_use use) : behind_(behind), use_(use) {}

    [[nodiscard]] coro::task<result<host::imported_source>> load(
        std::string path, std::string from, coro::call_context context) override;

    /// Texts by the names of their files, until close().
    [[nodiscard]] const std::map<std::string, std::string>& texts() const noexcept {
        return texts_;
    }
    /// From now on texts() is empty.
    void close() noexcept {
        is_closed_ = true;
        texts_.clear();
    }

private:
    host::import_port& behind_;
    import_use use_;
    bool is_closed_ = false;
    std::map<std::string, std::string> texts_;
    /// By the path and the importing file.
    std::map<std::pair<std::string, std::string>, host::imported_source> pinned_;
    std::size_t pinned_bytes_ = 0;
};

} // namespace heddle::cli
