#include "batch/results/unseen_results.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace heddle::cli {

namespace {

[[nodiscard]] ended_row ended_row_of(store::run_row found) {
    ended_row row;
    row.result.id = found.id;
    row.result.end = *std::move(found.ended);
    if (row.result.end.status == ports::row_status::done) return row;
    rows::dead_letter& letter = row.letter.emplace();
    letter.number = row.result.end.row;
    letter.id = std::move(found.id);
    letter.error_json = row.result.end.error_json;
    letter.row_json = std::move(found.text);
    return row;
}

} // namespace

coro::task<result<void>> emit_unseen(unseen_results from, coro::call_context context) {
    constexpr std::uint64_t any_distance = std::uint64_t{1} << 40;
    const std::vector<ports::known_row>& rows = from.known.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ports::row_status status = rows[i].status;
        const bool wanted = status == ports::row_status::done ||
                            (from.complete && status != ports::row_status::begun);
        if (!wanted || rows[i].emitted || rows[i].outdated || from.known.was_seen(i)) continue;
        while (!from.emitter.failure() && !from.emitter.has_room(from.position, any_distance))
            (void)co_await coro::sleep_until(context,
                                             context.loop->now() + std::chrono::milliseconds(5));
        if (from.emitter.failure()) break;
        result<std::optional<store::run_row>> found =
            co_await from.journal.row(rows[i].row, context);
        if (!found) co_return std::move(found).error();
        if (!*found || !(*found)->ended) continue;
        from.emitter.put(from.position++, ended_row_of(**std::move(found)));
    }
    co_return result<void>();
}

} // namespace heddle::cli
