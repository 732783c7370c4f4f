// What the user has allowed the files of projects.
#pragma once

#include "environment.hpp"

#include <heddle/base/error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// One thing that was allowed: the file of a project may have this key sent to this address, or
/// these parameters with the prompts that go there. It holds for nothing else: another address,
/// key, parameter or place of the file is asked for anew.
struct consent {
    std::string file; ///< absolute, its folder without links
    std::string
        address;     ///< normalised; empty: the file is read although another user may change it
    std::string key; ///< what the key is called, never the key; empty: none, prompts only
    std::string parameters = {}; ///< a JSON object; empty: this is about the address

    friend bool operator==(const consent&, const consent&) = default;
};

/// A file of the user's own, read when it is first asked and written in one step, readable by its
/// owner only. Threads: one at a time; processes: writers wait for one another.
class consent_store {
public:
    /// Without a file nothing is allowed.
    explicit consent_store(std::optional<std::string> file = std::nullopt)
        : file_(std::move(file)) {}

    [[nodiscard]] bool holds(const consent& wanted) const;
    /// All of them, by file.
    [[nodiscard]] const std::vector<consent>& all() const;
    /// Why nothing is allowed although the file is there: it is damaged, or somebody else's.
    [[nodiscard]] const std::optional<error>& problem() const;
    [[nodiscard]] const std::optional<std::string>& file() const noexcept { return file_; }

    /// Adds what is missing. Errors: invalid_argument without a file, io_error, as problem().
    [[nodiscard]] result<void> allow(const std::vector<consent>& more);
    /// Takes away all that a project's file was allowed. Result: how many. Errors: as allow.
    [[nodiscard]] result<std::size_t> revoke(std::string_view project_file);

private:
    void read() const;
    template <class Change>
    [[nodiscard]] result<void> change(Change&& what);

    std::optional<std::string> file_;
    mutable bool read_ = false;
    mutable std::vector<consent> known_;
    mutable std::optional<error> problem_;
};

/// That of the user: heddle/trusted.json in the folder for state.
[[nodiscard]] consent_store consents_of(const environment& variables);

} // namespace heddle::cli
