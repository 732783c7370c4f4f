// Who may call the server.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/secret.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// Bearer tokens and the names of their owners, which appear in metrics. Threads: immutable.
class api_tokens {
public:
    /// One token in each line, with a name and blanks in front of it, or none; lines that are empty
    /// or begin with # are skipped. Tokens without a name get "client-1" and so on, by their
    /// position; where a line has that name, the next one that is free. A name may have several
    /// tokens. Errors: invalid_argument, with the numbers of lines and never their text: for
    /// malformed ones, and for a token that two lines have.
    [[nodiscard]] static result<api_tokens> parse(std::string_view text);

    [[nodiscard]] bool empty() const noexcept { return known_.empty(); }
    /// The owner of the token in an Authorization field; null: it has none that is known. Compares
    /// with all tokens in full, so that the time it takes does not depend on the bytes that match.
    [[nodiscard]] const std::string* owner_of(std::string_view authorization) const noexcept;

private:
    struct entry {
        std::string owner;
        secret token;
    };
    void name_the_unnamed();

    std::vector<entry> known_;
};

} // namespace heddle::cli
