#include "tasks/run/response_stream.hpp"

#include "tasks/run/task_runner.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/text.hpp>

#include <string>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_waiting =
    64 * 1024; ///< bytes that wait for the function before the stream does

/// For the scope of what the function calls.
class stream_number {
public:
    stream_number(held_streams& in, held_stream& stream) : in_(in), number_(in.add(stream)) {}
    ~stream_number() { in_.remove(number_); }
    stream_number(const stream_number&) = delete;
    stream_number& operator=(const stream_number&) = delete;
    [[nodiscard]] std::int64_t get() const noexcept { return number_; }

private:
    held_streams& in_;
    std::int64_t number_;
};

/// The function did not come to the end of a response that is there, and paid for.
[[nodiscard]] error unheard(error failure, ports::chat_response response) {
    const std::uint32_t attempts = response.attempts;
    return std::move(failure).with_attempts(attempts).with_payload(
        std::make_shared<ports::partial_response>(std::move(response)));
}

} // namespace

/// Between the stream and the function: text that has arrived and was not handed on yet.
class response_stream::pieces final : public ports::flow_gate,
                                      public held_stream,
                                      private ports::flow_gate::listener {
public:
    /// `outer`: that of the host, which receives the same text; may be null.
    explicit pieces(ports::flow_gate* outer) : outer_(outer) {
        if (outer_) outer_->listen(*this);
    }

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
    /// Whether the function has returned from all that has been taken, and nothing waits for it.
    [[nodiscard]] bool is_handed_on() const noexcept { return waiting_.empty() && !is_hearing; }
    /// All that waits. A character is never split between two pieces.
    [[nodiscard]] std::string take() {
        std::string taken = std::move(waiting_);
        waiting_.clear();
        if (!closed_) {
            const std::size_t whole = taken.size() - utf8::incomplete_end(taken);
            waiting_.assign(taken, whole);
            taken.resize(whole);
        }
        report_open();
        return taken;
    }
    [[nodiscard]] coro::task<coro::wake> arrived(coro::call_context context) {
        return arrived_.wait(context);
    }

    bool is_hearing = false; ///< the function is called

    [[nodiscard]] bool open() const noexcept override {
        return (let_go_ || waiting_.size() < max_waiting) && (!outer_ || outer_->open());
    }
    void let_go() noexcept override {
        if (std::exchange(let_go_, true)) return;
        report_open();
    }

private:
    void on_open() noexcept override {
        outer_->listen(*this); // it may close again
        report_open();
    }

    ports::flow_gate* outer_;
    std::string waiting_;
    coro::wait_point arrived_;
    bool closed_ = false;
    bool let_go_ = false; // the rest is collected, as far as the limits of a response allow
};

response_stream::response_stream(task_runner& runner, const task_call& call)
    : runner_(runner), call_(call), number_(runner.next_execution()) {}

void response_stream::open() {
    receiver_ = call_.scope->receiver;
    delta_receiver* const host = runner_.deltas();
    host_ = host && host->is_listening() ? host : nullptr;
    open_ = !receiver_.is_nil() || host_;
}

/// `ended` is set when the response has ended, also with an error: what has arrived is handed on
/// first.
coro::task<result<void>> response_stream::read(pieces& arrived, ports::llm_port& provider,
                                               const ports::chat_request& request,
                                               task_costs& costs,
                                               std::optional<result<ports::chat_response>>& ended,
                                               coro::call_context context) {
    ports::chat_delta_sink sink = [this, &arrived](std::string_view text) -> result<void> {
        arrived.add(text);
        return notify_host(text);
    };
    result<ports::chat_response> response =
        co_await provider.stream(request, std::move(sink), context);
    costs.request_ended(response); // what the function asks may wait for it
    ended.emplace(std::move(response));
    arrived.close();
    co_return result<void>();
}

/// Calls the function for what has arrived, until there is no more.
coro::task<result<void>> response_stream::hand_on(pieces& arrived, coro::call_context context) {
    host::session& session = runner_.session();
    lang::heap& memory = session.memory();
    // Tasks that the function calls are not streamed to it.
    // Those that it makes carry the number of the stream, so that they do not wait for it.
    const stream_number number(runner_.streams(), arrived);
    const lang::scope_ref scope = call_.scope.open(memory, [&number](lang::dynamic_scope& inner) {
        inner.receiver.set_nil();
        inner.stream = number.get();
    });
    for (;;) {
        while (arrived.empty() && !arrived.closed()) {
            const coro::wake woken = co_await arrived.arrived(context);
            if (woken == coro::wake::notified) continue;
            if (auto stop = context.stop_error()) co_return *std::move(stop);
        }
        if (arrived.empty()) co_return result<void>();
        const std::string text = arrived.take();
        if (text.empty()) {
            // The beginning of a character: its rest has to come first.
            const coro::wake woken = co_await arrived.arrived(context);
            if (woken == coro::wake::notified) continue;
            if (auto stop = context.stop_error()) co_return *std::move(stop);
            continue;
        }
        std::vector<lang::value> arguments{lang::make_string(memory, text)};
        arrived.is_hearing = true;
        result<lang::value> called =
            co_await session.call_within(receiver_, std::move(arguments), scope, context, true);
        if (called) {
            arrived.is_hearing = false;
            continue;
        }
        if (!called.error().is_cancelled()) failure_ = called.error();
        co_return std::move(called).error();
    }
}

result<void> response_stream::notify_host(std::string_view text) {
    if (!host_) return {};
    // The address distinguishes the calls that are under way, whatever their session. The next one
    // may have the same.
    constexpr unsigned bits_of_address = 48;
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this));
    const std::uint64_t call = address ^ (number_ << bits_of_address);
    auto taken = host_->take({call_.task->declared.name, call, text});
    if (!taken) failure_ = taken.error();
    return taken;
}

coro::task<result<ports::chat_response>> response_stream::ask(ports::llm_port& provider,
                                                              ports::chat_request& request,
                                                              task_costs& costs,
                                                              coro::call_context context) {
    // How a text is divided depends on time. So that a durable row calls the function in the same
    // way whenever it is continued, there it gets all of a response that has been kept.
    if (receiver_.is_nil() || context.step) {
        request.gate = host_ ? host_->gate() : nullptr;
        ports::chat_delta_sink sink = [this](std::string_view text) { return notify_host(text); };
        result<ports::chat_response> response =
            co_await provider.stream(request, std::move(sink), context);
        request.gate = nullptr;
        if (receiver_.is_nil() || !response) co_return response;
        costs.request_ended(response); // what the function asks may wait for it
        pieces whole(nullptr);
        whole.add(response->text);
        whole.close();
        // The time of the task was for the response, which is there: the function does not lose it.
        const result<void> heard = co_await hand_on(whole, call_.context);
        if (heard) co_return response;
        co_return unheard(heard.error(), *std::move(response));
    }
    pieces arrived(host_ ? host_->gate() : nullptr);
    request.gate = &arrived;
    std::optional<result<ports::chat_response>> ended;
    coro::nursery both(context);
    both.start([&] { return read(arrived, provider, request, costs, ended, both.context()); });
    both.start([&] { return hand_on(arrived, both.context()); });
    const result<void> joined = co_await both.join();
    request.gate = nullptr;
    if (!ended) co_return joined.error();
    // The time may pass when all has been handed on, before the connection shows the end.
    if (joined || !*ended || arrived.is_handed_on()) co_return *std::move(ended);
    co_return unheard(joined.error(), **std::move(ended));
}

} // namespace heddle::tasks
