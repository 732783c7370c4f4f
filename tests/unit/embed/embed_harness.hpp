// A runtime with a model that answers by rules.
#pragma once

#include <heddle/heddle.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <hang_guard.hpp>

#include <chrono>
#include <future>
#include <string>
#include <utility>

namespace heddle::testing {

using namespace std::chrono_literals;

/// Answers after 20 ms with the words of the question, "wait" never within a test.
inline constexpr const char* rules = R"json({"rules": [
    {"match": "^wait", "delay_ms": 600000, "text": "at last"},
    {"match": "^pieces", "piece_ms": 20, "text": "one two three four five six"},
    {"match": "^Echo: (?P<text>.*)$", "delay_ms": 5, "template": "{{text}}!"}]})json";

/// Calls a task; waits for a model for ever; computes for ever; returns, raises and binds data.
inline constexpr const char* program_text = R"lisp(
(defatom echo (params text) (instructions "Echo: {{text}}"))
(defatom slow (params text) (instructions "wait {{text}}"))
(defatom tell (params text) (instructions "pieces {{text}}"))
(define (ask text) (content (echo text)))
(define (hang) (content (slow "x")))
(define (hang-twice) (map (lambda (x) (content (slow x))) (list "a" "b")))
(define (spin) (let loop ((i 0)) (loop (+ i 1))))
(define (nothing) nil)
(define (sum a b &optional c) (+ a b (if c c 0)))
(define (whole input) input)
(define (fail) (error "no such order" (list 1 "two")))
(define (deep) (+ 1 (fail)))
(define (story) (content (tell "x")))
)lisp";

inline runtime_options with_model(runtime_options options = {}) {
    options.scripted_rules = rules;
    return options;
}

inline result<answer> wait_for(std::future<result<answer>> ended) {
    if (ended.wait_for(hang_guard::limit) != std::future_status::ready)
        return error(errc::internal, "the call does not end");
    return ended.get();
}

/// A call whose end is waited for.
inline result<answer> called(const program& flow, const std::string& function, json input = {},
                             call_options options = {}) {
    return wait_for(
        flow.call(function, std::move(input), std::move(options), boost::asio::use_future));
}

inline program loaded(runtime& in, std::string text = program_text) {
    auto flow = in.load_text("flow.heddle", std::move(text));
    EXPECT_TRUE(flow.has_value()) << (flow ? "" : to_text(flow.error()));
    return flow ? *flow : program();
}

using hang_guard::comes_true;

} // namespace heddle::testing
