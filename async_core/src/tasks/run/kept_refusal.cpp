#include "tasks/run/kept_refusal.hpp"

#include <array>
#include <cstdio>

namespace heddle::tasks {

namespace {

constexpr std::string_view head = "refused by a budget\n"; // no other body begins with it
constexpr std::array<std::string_view, 2> resources{"cost", "calls"};

} // namespace

std::string encode_refusal(const spent_budget& over) {
    std::array<char, 80> figures{};
    std::snprintf(figures.data(), figures.size(), "%d %.17g %.17g\n",
                  over.resource == resources[1] ? 1 : 0, over.used, over.limit);
    return std::string(head) + figures.data() + over.message;
}

std::optional<spent_budget> decode_refusal(std::string_view body) {
    if (!body.starts_with(head)) return std::nullopt;
    const std::string rest(body.substr(head.size()));
    std::size_t which = 0;
    int length = 0;
    spent_budget over;
    const int read =
        std::sscanf(rest.c_str(), "%zu %lg %lg\n%n", &which, &over.used, &over.limit, &length);
    if (read != 3 || which >= resources.size()) return std::nullopt;
    over.resource = resources[which];
    over.message = rest.substr(static_cast<std::size_t>(length));
    return over;
}

} // namespace heddle::tasks
