#include "lang/check/recovering_reader.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t max_errors = 20;

/// The first line from `from` on that begins with a bracket; the end when there is none.
std::size_t next_form(std::string_view text, std::size_t from) {
    for (std::size_t at = from; (at = text.find('\n', at)) != std::string_view::npos; ++at) {
        if (at + 1 < text.size() && (text[at + 1] == '(' || text[at + 1] == '[')) return at + 1;
    }
    return text.size();
}

/// The last such line that begins at or before `at`, but not before `least`.
std::size_t form_around(std::string_view text, std::size_t at, std::size_t least) {
    std::size_t found = least;
    for (std::size_t next = least; (next = next_form(text, next)) <= at && next < text.size();)
        found = next;
    return found;
}

} // namespace

recovered_text read_recovering(heap& memory, std::string_view text, std::uint32_t position) {
    recovered_text recovered;
    struct part {
        std::size_t begin;
        std::size_t end;
    };
    std::vector<part> left{{0, text.size()}}; // the first one last
    while (!left.empty()) {
        const part now = left.back();
        left.pop_back();
        // The rest is blanked out, so that lines and offsets stay those of the whole text.
        std::string alone(text.substr(0, now.end));
        std::replace_if(
            alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(now.begin),
            [](char c) { return c != '\n'; }, ' ');
        auto read = read_all(memory, alone, position);
        if (read) {
            std::move(read->begin(), read->end(), std::back_inserter(recovered.forms));
            continue;
        }
        error failure = std::move(read).error();
        const std::uint32_t where = failure.info().span.begin;
        recovered.errors.push_back(std::move(failure));
        if (where < position || recovered.errors.size() >= max_errors) break;
        const std::size_t at = std::min<std::size_t>(where - position, text.size());
        const std::size_t broken = form_around(text, at, now.begin);
        const std::size_t next = next_form(text, at);
        if (next < now.end) left.push_back({next, now.end});
        if (broken > now.begin) left.push_back({now.begin, broken});
    }
    return recovered;
}

} // namespace heddle::lang
