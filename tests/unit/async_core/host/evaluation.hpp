// Evaluations of a session to their end.
#pragma once

#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace heddle::host {

using evaluation_end = std::optional<result<lang::value>>; ///< empty: it has not ended

/// The written value, or "Kind: message".
inline std::string shown(const result<lang::value>& ended) {
    if (ended) return lang::print_value(*ended);
    return std::string(lang::error_kind_name(ended.error())) + ": " + ended.error().message();
}
inline std::string shown(const evaluation_end& ended) {
    return ended ? shown(*ended) : "not ended";
}

/// `on` and `out` outlive the evaluation.
inline coro::task<void> evaluate(session* on, std::string text, run_options options,
                                 evaluation_end* out) {
    result<lang::value> ended = co_await on->evaluate("test", std::move(text), options);
    out->emplace(std::move(ended));
}

/// Evaluates until the loop runs dry: no timer and no coroutine is left.
inline evaluation_end evaluate_to_the_end(boost::asio::io_context& context, coro::event_loop& loop,
                                          session& on, std::string text, run_options options = {}) {
    evaluation_end ended;
    context.restart();
    coro::spawn(loop, evaluate(&on, std::move(text), std::move(options), &ended),
                [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
    loop.run();
    return ended;
}

} // namespace heddle::host
