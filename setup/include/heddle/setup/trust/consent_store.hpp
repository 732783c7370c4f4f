// What the user has allowed to files of projects.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/setup/environment.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::setup {

/// One consent: the file of a project may cause this key to be sent to this address, or these
/// parameters with the prompts that go there. Another address, key, parameter or location of the
/// file needs a new consent.
struct consent {
    std::string file; ///< absolute, its folder without links
    std::string
        address; ///< normalised; empty: the file may be read although another user can change it
    std::string key; ///< its name: a variable, a file or a whole command; empty: prompts only
    std::string parameters = {}; ///< a JSON object; empty: the consent is for the address

    friend bool operator==(const consent&, const consent&) = default;
};

/// A file of the user, read on first use and written in one step, readable by its owner only.
/// Threads: one at a time; processes: writers wait for one another.
class consent_store {
public:
    /// Without a file nothing is allowed.
    explicit consent_store(std::optional<std::string> file = std::nullopt)
        : file_(std::move(file)) {}

    [[nodiscard]] bool holds(const consent& wanted) const;
    /// All consents, by file.
    [[nodiscard]] const std::vector<consent>& all() const;
    /// Why nothing is allowed although the file exists: it is damaged, or belongs to another user.
    [[nodiscard]] const std::optional<error>& problem() const;
    [[nodiscard]] const std::optional<std::string>& file() const noexcept { return file_; }

    /// Adds what is missing. Errors: invalid_argument without a file, io_error, as problem().
    [[nodiscard]] result<void> allow(const std::vector<consent>& more);
    /// Removes all consents of a project's file. Result: how many. Errors: as allow.
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

/// The store of the user: heddle/trusted.json in the state folder.
[[nodiscard]] consent_store consents_of(const environment& variables);

} // namespace heddle::setup
