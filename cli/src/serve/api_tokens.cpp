#include "serve/api_tokens.hpp"

#include <heddle/base/ascii.hpp>

#include <algorithm>
#include <set>
#include <utility>

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
    std::vector<std::size_t> lines; // of the tokens
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
        for (std::size_t i = 0; i < read.known_.size(); ++i) {
            if (read.known_[i].token.reveal() != token) continue;
            return error(errc::invalid_argument, "lines " + std::to_string(lines[i]) + " and " +
                                                     std::to_string(number) +
                                                     " of the tokens have the same token");
        }
        read.known_.push_back({std::string(owner), secret(std::string(token))});
        lines.push_back(number);
    }
    read.name_the_unnamed();
    return read;
}

/// By position, but with the name of nobody else: metrics and bounds are by name.
void api_tokens::name_the_unnamed() {
    std::set<std::string> taken;
    for (const entry& each : known_) taken.insert(each.owner);
    for (std::size_t i = 0; i < known_.size(); ++i) {
        std::string& owner = known_[i].owner;
        for (std::size_t k = i + 1; owner.empty(); ++k) {
            std::string name = "client-" + std::to_string(k);
            if (taken.insert(name).second) owner = std::move(name);
        }
    }
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
