// Streams of responses that their receivers may hold back.
#pragma once

#include <heddle/lang/dynamic_scope.hpp>

#include <cstdint>
#include <map>

namespace heddle::tasks {

/// A stream of a response that waits for the function that receives it.
class held_stream {
public:
    /// From now on nothing holds it back.
    virtual void let_go() noexcept = 0;

protected:
    ~held_stream() = default;
};

/// The streams of a session, by a number that the calls of their functions carry. When one of those
/// asks a model, the stream is let go on: it may hold the place in flight, or lead the equal call,
/// that the other one waits for.
class held_streams {
public:
    /// `stream` stays until it is removed. Result: its number.
    [[nodiscard]] std::int64_t add(held_stream& stream);
    void remove(std::int64_t number) noexcept { streams_.erase(number); }
    /// Lets the stream go on whose function has made a call with `scope`, if there is one.
    void let_go(const lang::scope_ref& scope) noexcept;

private:
    std::map<std::int64_t, held_stream*> streams_;
    std::int64_t last_ = 0;
};

} // namespace heddle::tasks
