// How a call is run that is recorded.
#include "recorded_call.hpp"
#include "running_call.hpp"

#include "plain_error.hpp"
#include "runtime_core.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>

#include <utility>

namespace heddle::embed {

coro::task<result<answer>> running_call::perform_recorded(std::shared_ptr<shard_program> program) {
    // Its digest is known once it is loaded.
    const result<void> loaded = co_await program->load(wanted_.program, context());
    if (!loaded) co_return loaded.error();
    recorded_call record(*core_->journal(),
                         {wanted_.tag, wanted_.function, wanted_.input, wanted_.program->digest()});
    const result<void> opened = co_await record.open(context());
    if (!opened) co_return plain_error(opened.error(), {}, wanted_.tag);
    if (record.recorded_value()) {
        co_return answer(*record.recorded_value(), {}, coro::clock::now() - begun_, wanted_.tag,
                         record.used_before(), true);
    }
    result<answer> ended = co_await evaluate_in_session(program, wanted_.input, &record);
    if (record.is_misfit()) {
        home->log().write(log_level::info, "journal",
                          "the call " + utf8::printable_line(wanted_.tag) +
                              " starts over, since its records do not fit: " +
                              (ended ? std::string() : ended.error().message()));
        ended = co_await evaluate_in_session(program, std::move(wanted_.input), &record);
    }
    const bool out_of_time = !ended &&
                             ended.error().code() == lang::make_error_code(lang::errc::timeout) &&
                             until_.passed(coro::clock::now());
    const bool from_outside = !ended && (ended.error().is_cancelled() || out_of_time);
    const result<void> kept = co_await record.end(ended, from_outside, context());
    if (!ended) co_return ended; // what has failed first
    if (!kept) co_return plain_error(kept.error(), ended->used(), wanted_.tag);
    co_return answer(std::move(*ended).value(), ended->used(), ended->duration(), wanted_.tag,
                     record.used_before());
}

} // namespace heddle::embed
