#include "tasks/tools/process_result_value.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/lang/text_intake.hpp>

#include <cstring>

namespace heddle::tasks {

namespace {

/// A number of seconds as people write it.
[[nodiscard]] std::string seconds_text(std::chrono::milliseconds span) {
    std::string text = std::to_string(span.count() / 1000);
    if (const auto rest = span.count() % 1000; rest != 0) {
        std::string fraction = std::to_string(1000 + rest).substr(1);
        while (fraction.back() == '0') fraction.pop_back();
        text += "." + fraction;
    }
    return text + " s";
}

} // namespace

std::string describe_end(const ports::process_result& ended, std::chrono::milliseconds timeout) {
    if (ended.timed_out) return "took longer than " + seconds_text(timeout);
    if (ended.signal != 0) {
        const char* name = ::strsignal(ended.signal);
        return "was ended by signal " + std::to_string(ended.signal) +
               (name ? " (" + std::string(name) + ")" : "");
    }
    return "exited with code " + std::to_string(ended.exit_code);
}

namespace {

/// The limit counts bytes, and may have cut a character.
void drop_cut_character(std::string& bytes, std::uint64_t& dropped) {
    if (dropped == 0) return;
    const std::size_t part = utf8::incomplete_end(bytes);
    bytes.resize(bytes.size() - part);
    dropped += part;
}

void drop_cut_characters(ports::process_result& ended) {
    drop_cut_character(ended.out, ended.out_dropped);
    drop_cut_character(ended.err, ended.err_dropped);
}

/// The texts of `ended` are `out` and `err`.
lang::value notes_with(lang::heap& memory, const ports::process_result& ended, lang::value out,
                       lang::value err) {
    lang::value notes = lang::value::empty_map();
    const auto put = [&](std::string_view key, lang::value item) {
        notes = lang::map_put(memory, std::move(notes), key, std::move(item));
    };
    put("success", lang::value::boolean(ended.exit_code == 0 && !ended.timed_out));
    put("exit_code", lang::value::integer(ended.exit_code));
    put("stdout", std::move(out));
    put("stderr", std::move(err));
    if (ended.signal != 0) put("signal", lang::value::integer(ended.signal));
    if (ended.timed_out) put("timed_out", lang::value::boolean(true));
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(ended.elapsed);
    put("elapsed_ms", lang::value::real(static_cast<double>(elapsed.count()) / 1000.0));
    lang::value warnings = lang::value::empty_list();
    const auto note_dropped = [&](std::string_view stream, std::uint64_t dropped) {
        if (dropped == 0) return;
        const std::string said = std::string(stream) + " was longer than its limit: the last " +
                                 std::to_string(dropped) + " bytes are left out";
        warnings =
            lang::list_push_back(memory, std::move(warnings), lang::make_string(memory, said));
    };
    note_dropped("stdout", ended.out_dropped);
    note_dropped("stderr", ended.err_dropped);
    if (warnings.length() != 0) put("warnings", std::move(warnings));
    return notes;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the caller awaits at once
coro::task<result<lang::value>> text_in_turns(lang::heap& memory, std::string text,
                                              coro::call_context context, std::string who) {
    lang::text_intake intake(memory, std::move(text));
    while (!intake.go_on()) {
        co_await coro::yield_now(*context.loop);
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        if (intake.needs() != 0 && !memory.can_allocate(intake.needs())) {
            co_return error(lang::errc::limit,
                            who + ": the output does not fit in the memory limit");
        }
    }
    co_return intake.take();
}

} // namespace

lang::value process_notes(lang::heap& memory, ports::process_result& ended) {
    drop_cut_characters(ended);
    lang::value out = lang::make_string(memory, std::exchange(ended.out, {}));
    lang::value err = lang::make_string(memory, std::exchange(ended.err, {}));
    return notes_with(memory, ended, std::move(out), std::move(err));
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the caller awaits at once
coro::task<result<lang::value>> process_notes_in_turns(lang::heap& memory,
                                                       ports::process_result ended,
                                                       coro::call_context context,
                                                       std::string who) {
    drop_cut_characters(ended);
    result<lang::value> out =
        co_await text_in_turns(memory, std::exchange(ended.out, {}), context, who);
    if (!out) co_return out;
    result<lang::value> err =
        co_await text_in_turns(memory, std::exchange(ended.err, {}), context, std::move(who));
    if (!err) co_return err;
    co_return notes_with(memory, ended, *std::move(out), *std::move(err));
}

lang::value failure_note(lang::heap& memory, std::string_view reason, std::string_view message) {
    lang::value result = lang::value::empty_map();
    const auto put = [&](std::string_view key, std::string_view text) {
        result = lang::map_put(memory, std::move(result), key, lang::make_string(memory, text));
    };
    put("type", "TASK_FAILURE");
    put("reason", reason);
    put("message", message);
    return lang::map_put(memory, std::move(result), "details", lang::value::empty_map());
}

lang::value tool_result(lang::heap& memory, lang::value content, lang::value notes,
                        std::string_view reason, std::string_view message) {
    if (!reason.empty()) {
        notes =
            lang::map_put(memory, std::move(notes), "error", failure_note(memory, reason, message));
    }
    lang::value result =
        lang::map_put(memory, lang::value::empty_map(), "status",
                      lang::make_string(memory, reason.empty() ? "COMPLETE" : "FAILED"));
    result = lang::map_put(memory, std::move(result), "content", std::move(content));
    return lang::map_put(memory, std::move(result), "notes", std::move(notes));
}

error no_programs(std::string_view who, const std::string& hint) {
    return error(lang::errc::permission, std::string(who) + ": workflows may not run programs here")
        .with_hint(hint.empty() ? "the program that runs this workflow has to allow it" : hint);
}

} // namespace heddle::tasks
