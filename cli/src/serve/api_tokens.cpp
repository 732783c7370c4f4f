#include "serve/api_tokens.hpp"

#include <heddle/base/ascii.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::size_t min_token = 16; ///< characters: shorter ones are guessed

bool is_printable(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// Whether the texts are equal, in a time that depends on the length of `given` only.
bool equals_in_constant_time(std::string_view given, std::string_view known) noexcept {
    unsigned different = given.size() == known.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const char other = known.empty() ? '\0' : known[i % known.size()];
        different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(other);
    }
    return different == 0;
}

} // namespace

result<api_tokens> api_tokens::parse(std::string_view text) {
    api_tokens read;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = ascii::trim(text.substr(0, end), blanks);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.empty() || line.starts_with('#')) continue;
        const std::size_t gap = line.find_last_of(blanks);
        const std::string_view token = gap == line.npos ? line : line.substr(gap + 1);
        const std::string_view owner =
            gap == line.npos ? std::string_view() : ascii::trim(line.substr(0, gap), blanks);
        if (!is_printable(token) || !is_printable(owner)) {
            return error(errc::invalid_argument,
                         "line " + std::to_string(number) + " of the tokens is malformed")
                .with_hint(
                    "write a token, or a name without blanks and a token, of ASCII "
                    "characters");
        }
        if (token.size() < min_token) {
            return error(errc::invalid_argument, "line " + std::to_string(number) +
                                                     " of the tokens has a token of less than " +
                                                     std::to_string(min_token) + " characters")
                .with_hint(
                    "a name comes before its token: web 6f1c…; 'openssl rand -hex 24' makes one");
        }
        entry added;
        added.owner =
            owner.empty() ? "client-" + std::to_string(read.known_.size() + 1) : std::string(owner);
        added.token = secret(std::string(token));
        read.known_.push_back(std::move(added));
    }
    return read;
}

const std::string* api_tokens::owner_of(std::string_view authorization) const noexcept {
    constexpr std::string_view scheme = "bearer ";
    const std::string_view given_scheme = authorization.substr(0, scheme.size());
    if (!ascii::equals_ignoring_case(given_scheme, scheme)) return nullptr;
    const std::string_view given = ascii::trim(authorization.substr(scheme.size()), blanks);
    if (given.empty()) return nullptr;
    const std::string* owner = nullptr;
    for (const entry& each : known_) {
        if (equals_in_constant_time(given, each.token.reveal())) owner = &each.owner;
    }
    return owner;
}

} // namespace heddle::cli
