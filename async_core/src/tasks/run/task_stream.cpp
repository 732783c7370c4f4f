// Answers that are handed on as they arrive.
#include "tasks/run/task_execution.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <utility>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_waiting =
    64 * 1024; ///< bytes that wait for the function before the stream does

/// Between the stream and the function: text that has arrived and was not handed on yet.
class piece_buffer final : public ports::flow_gate, public held_stream {
public:
    void add(std::string_view text) {
        waiting_ += text;
        arrived_.notify();
    }
    void close() noexcept {
        closed_ = true;
        arrived_.notify();
    }
    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    /// All that waits. A character is never split between two pieces.
    [[nodiscard]] std::string take() {
        std::string taken = std::move(waiting_);
        waiting_.clear();
        if (!closed_) {
            const std::size_t whole = taken.size() - utf8::incomplete_end(taken);
            waiting_.assign(taken, whole);
            taken.resize(whole);
        }
        tell_open();
        return taken;
    }
    [[nodiscard]] coro::task<coro::wake> arrived(coro::call_context context) {
        return arrived_.wait(context);
    }

    [[nodiscard]] bool open() const noexcept override {
        return let_go_ || waiting_.size() < max_waiting;
    }
    void let_go() noexcept override {
        if (std::exchange(let_go_, true)) return;
        tell_open();
    }

private:
    std::string waiting_;
    coro::wait_point arrived_;
    bool closed_ = false;
    bool let_go_ = false; // the rest is collected, as far as the limits of an answer allow
};

/// For the scope of what the function calls.
class stream_number {
public:
    stream_number(task_runner& in, held_stream& stream) : in_(in), number_(in.add_stream(stream)) {}
    ~stream_number() { in_.remove_stream(number_); }
    stream_number(const stream_number&) = delete;
    stream_number& operator=(const stream_number&) = delete;
    [[nodiscard]] std::int64_t get() const noexcept { return number_; }

private:
    task_runner& in_;
    std::int64_t number_;
};

/// `answer` is set when it ends, also with an error: what has arrived is handed on first.
coro::task<result<void>> read_pieces(task_execution* execution, piece_buffer* pieces,
                                     std::optional<result<ports::chat_response>>* answer,
                                     coro::call_context context) {
    ports::chat_delta_sink sink = [execution, pieces](std::string_view text) -> result<void> {
        pieces->add(text);
        return execution->tell_host(text);
    };
    result<ports::chat_response> ended =
        co_await execution->provider().stream(execution->request(), std::move(sink), context);
    execution->request_ended(ended); // what the function asks may wait for it
    answer->emplace(std::move(ended));
    pieces->close();
    co_return result<void>();
}

/// Calls the function for what has arrived, until there is no more.
coro::task<result<void>> hand_on(host::session* owner, task_execution* execution,
                                 piece_buffer* pieces, coro::call_context context) {
    lang::heap& memory = owner->memory();
    // Tasks that the function calls are not streamed to it.
    // Those that it makes carry the number of the stream, so that they do not wait for it.
    const stream_number number(execution->runner(), *pieces);
    const lang::scope_ref scope =
        execution->call().scope.open(memory, [&number](lang::dynamic_scope& inner) {
            inner.receiver.set_nil();
            inner.stream = number.get();
        });
    for (;;) {
        while (pieces->empty() && !pieces->closed()) {
            const coro::wake woken = co_await pieces->arrived(context);
            if (woken == coro::wake::notified) continue;
            if (auto stop = context.stop_error()) co_return *std::move(stop);
        }
        if (pieces->empty()) co_return result<void>();
        const std::string text = pieces->take();
        if (text.empty()) {
            // The beginning of a character: its rest has to come first.
            const coro::wake woken = co_await pieces->arrived(context);
            if (woken == coro::wake::notified) continue;
            if (auto stop = context.stop_error()) co_return *std::move(stop);
            continue;
        }
        std::vector<lang::value> arguments{lang::make_string(memory, text)};
        result<lang::value> called = co_await owner->call_within(
            execution->receiver(), std::move(arguments), scope, context, true);
        if (called) continue;
        if (!called.error().is_cancelled()) execution->receiver_failed(called.error());
        co_return std::move(called).error();
    }
}

/// The function did not come to the end of an answer that is there, and paid for.
[[nodiscard]] error unheard(error failure, ports::chat_response answer) {
    const std::uint32_t attempts = answer.attempts;
    return std::move(failure).with_attempts(attempts).with_payload(
        std::make_shared<ports::partial_response>(std::move(answer)));
}

} // namespace

std::int64_t task_runner::add_stream(held_stream& stream) {
    streams_.emplace(++last_stream_, &stream);
    return last_stream_;
}

void task_runner::let_stream_go(const lang::scope_ref& scope) noexcept {
    const auto found = streams_.find(scope->stream);
    if (found != streams_.end()) found->second->let_go();
}

result<void> task_execution::tell_host(std::string_view text) {
    const auto& told = runner_.parts().on_delta;
    if (!told) return {};
    // The address tells the calls that are under way apart, whatever their session. The next one
    // may have the same.
    constexpr unsigned bits_of_address = 48;
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this));
    const std::uint64_t call = address ^ (number_ << bits_of_address);
    auto taken = told({call_.task->declared.name, call, text});
    if (!taken) receiver_failed(taken.error());
    return taken;
}

coro::task<result<ports::chat_response>> task_runner::stream_answer(task_execution& execution) {
    if (execution.receiver().is_nil()) {
        ports::chat_delta_sink sink = [&execution](std::string_view text) {
            return execution.tell_host(text);
        };
        result<ports::chat_response> answer = co_await execution.provider().stream(
            execution.request(), std::move(sink), execution.context());
        co_return answer;
    }
    piece_buffer pieces;
    execution.set_gate(&pieces);
    std::optional<result<ports::chat_response>> answer;
    coro::nursery both(execution.context());
    both.start([&] { return read_pieces(&execution, &pieces, &answer, both.context()); });
    both.start([&] { return hand_on(&owner_, &execution, &pieces, both.context()); });
    const result<void> joined = co_await both.join();
    execution.set_gate(nullptr);
    if (!answer) co_return joined.error();
    if (joined || !*answer) co_return *std::move(answer);
    co_return unheard(joined.error(), **std::move(answer));
}

} // namespace heddle::tasks
