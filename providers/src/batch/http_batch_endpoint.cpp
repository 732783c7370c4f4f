#include "batch/http_batch_endpoint.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/providers/common/json_text.hpp>
#include <heddle/providers/common/ndjson_parser.hpp>

#include "common/response_redaction.hpp"
#include "common/service_error.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::http_request;
using ports::http_response;

namespace {

constexpr std::size_t max_line = 64 * 1024 * 1024;          // of results
constexpr std::size_t max_results = std::size_t(16) << 30U; // bytes of one file
constexpr std::size_t max_failure = 1024 * 1024;            // body of an error
constexpr std::size_t max_pages = 200;
/// Created elsewhere: clocks differ.
constexpr std::int64_t clock_slack = 300;

[[nodiscard]] bool is_success(const http_response& received) noexcept {
    return received.status >= 200 && received.status < 300;
}

/// Letters, digits, `-` and `_`: every service takes them, and they need no escape.
[[nodiscard]] bool is_call_id(std::string_view id) noexcept {
    constexpr std::size_t max_id = 64;
    return id.size() <= max_id && is_batch_name(id) &&
           id.find_first_of(".:") == std::string_view::npos;
}

error too_large() {
    return error(ports::make_error_code(ports::llm_errc::invalid_request),
                 "the requests are more than one batch may hold");
}

class written_notice final : public ports::sent_listener {
public:
    explicit written_notice(std::uint32_t* count) noexcept : count_(count) {}
    void on_sent() noexcept override {
        if (count_) ++*count_;
    }

private:
    std::uint32_t* count_;
};

} // namespace

/// The responses in a body of lines, as it arrives.
class http_batch_endpoint::download {
public:
    download(http_batch_endpoint& owner, const batch_sink& sink,
             batch_format::wall_time time_of_day)
        : owner_(owner), sink_(sink), time_of_day_(time_of_day) {}

    result<void> begin(const http_response& head) {
        head_.status = head.status;
        head_.headers = head.headers;
        return {};
    }
    result<void> take(std::string_view piece) {
        if (!is_success(head_)) {
            if (head_.body.size() < max_failure) head_.body += piece;
            return {};
        }
        lines_.feed(piece);
        for (;;) {
            std::string_view line;
            HEDDLE_TRY(const bool there, lines_.next(line));
            if (!there) return {};
            HEDDLE_CHECK(read(line));
        }
    }
    /// Errors: of a line that could not be read. The others were handed out.
    result<void> finish() {
        std::string_view line;
        HEDDLE_TRY(const bool there, lines_.last(line));
        if (there && check_json(line) == json_kind::none) return ended_early();
        if (there) HEDDLE_CHECK(read(line));
        if (unread_) return *unread_;
        return {};
    }
    [[nodiscard]] const http_response& head() const noexcept { return head_; }

private:
    [[nodiscard]] error ended_early() const {
        return error(ports::make_error_code(ports::llm_errc::connection),
                     owner_.name_ + ": the download of the results ended early")
            .with_origin(error_origin::server)
            .with_retryable(true);
    }
    result<void> read(std::string_view line) {
        auto tree = owner_.reader_.parse(line);
        if (!tree || !tree->is_object()) {
            if (!unread_)
                unread_ = tree ? owner_.reader_.protocol_error("a result is not an object", line)
                               : std::move(tree).error();
            return {};
        }
        auto received = owner_.format_->read_line(tree->get_object(), time_of_day_);
        if (!received) {
            if (!unread_) unread_ = std::move(received).error();
            return {};
        }
        return owner_.hand_out(*std::move(received), sink_);
    }

    http_batch_endpoint& owner_;
    const batch_sink& sink_;
    batch_format::wall_time time_of_day_;
    ndjson_parser lines_{max_line};
    http_response head_;
    std::optional<error> unread_;
};

http_batch_endpoint::http_batch_endpoint(parts of)
    : http_(of.http), origin_(std::move(of.origin)), codec_(std::move(of.codec)),
      key_(std::move(of.key)), name_(codec_->provider_name()), options_(std::move(of.options)),
      reader_({name_, &key_}), format_(of.make_format(*codec_, reader_)),
      headers_(codec_->encode_ping().headers), secrets_(secrets_in(headers_)),
      jitter_(make_jitter(options_.retry)) {
    // Files of many megabytes go either way.
    options_.limits.total =
        std::max<std::chrono::milliseconds>(options_.limits.total, std::chrono::hours(2));
}

result<rendered_call> http_batch_endpoint::render(const ports::chat_request& request) {
    HEDDLE_TRY(encoded_request encoded, codec_->encode(request, response_mode::whole));
    return rendered_call{std::move(encoded.body), std::move(encoded.left_out)};
}

result<void> http_batch_endpoint::hand_out(batch_response received, const batch_sink& sink) {
    if (received.response) hide_secrets(*received.response, secrets_);
    else received.response = hide_secrets(std::move(received.response).error(), secrets_);
    if (!received.response && !received.response.error().info().retryable)
        received.response = error(received.response.error()).with_retryable(false);
    return sink(std::move(received));
}

result<void> http_batch_endpoint::check(const batch_submission& what) const {
    const batch_limits most = limits();
    std::size_t bytes = 0;
    std::set<std::string_view> ids;
    for (const batch_call& each : what.calls) {
        bytes += size_of(each);
        if (!is_call_id(each.id) || !ids.insert(each.id).second) {
            return error(ports::make_error_code(ports::llm_errc::invalid_request),
                         "the id of a request in a batch cannot be used or occurs twice");
        }
    }
    if (what.calls.size() > most.max_calls || bytes > most.max_bytes) return too_large();
    if (what.calls.empty() || !is_call_id(what.mark)) {
        return error(ports::make_error_code(ports::llm_errc::invalid_request),
                     "a batch needs requests and a mark");
    }
    return {};
}

http_request http_batch_endpoint::prepare(batch_request request) const {
    http_request prepared;
    prepared.origin = origin_;
    prepared.method = std::move(request.method);
    prepared.target = std::move(request.target);
    prepared.headers = headers_;
    if (request.is_lines) {
        prepared.headers.edit([](std::vector<ports::http_header>& headers) {
            for (ports::http_header& each : headers)
                if (each.value == "application/json") each.value = "application/binary";
        });
    }
    if (!request.content_type.empty())
        prepared.headers.push_back({"content-type", std::move(request.content_type), false});
    prepared.body = std::move(request.body);
    prepared.limits = options_.limits;
    prepared.limits.max_body_bytes = request.is_lines ? max_results : format_->max_document();
    return prepared;
}

task<http_batch_endpoint::http_result> http_batch_endpoint::send(batch_request request,
                                                                 std::uint32_t* written,
                                                                 call_context context) {
    written_notice notice(written);
    http_request prepared = prepare(std::move(request));
    prepared.idempotent = prepared.method == "GET";
    prepared.sent = &notice;
    prepared.once = written != nullptr;
    http_result received = co_await http_.exchange(std::move(prepared), context);
    if (!received) co_return from_http_error(std::move(received).error(), name_);
    co_return received;
}

task<http_batch_endpoint::http_result> http_batch_endpoint::send_again(batch_request request,
                                                                       call_context context) {
    retry_state tries(options_.retry, jitter_, context.loop->now());
    for (;;) {
        http_result received = co_await send(request, nullptr, context);
        if (received && is_success(*received)) co_return received;
        error failure =
            received ? failure_in(*received, *context.loop) : std::move(received).error();
        const retry_decision next = tries.after(failure, context.loop->now(), context.until);
        // A batch that is not found has a status, 404, that no error shows.
        if (!next.again && received) co_return received;
        if (!next.again) co_return failure;
        result<void> waited = co_await coro::sleep_until(context, next.at);
        if (!waited) co_return std::move(waited).error();
    }
}

error http_batch_endpoint::failure_in(const http_response& received, coro::event_loop& loop) {
    return read_error(reader_, received, loop.time_of_day(), format_->reads_failures());
}

result<json::value> http_batch_endpoint::read(const std::string& body) {
    auto tree = reader_.parse(body);
    if (!tree) return std::move(tree).error();
    if (!tree->is_object()) return reader_.protocol_error("the response is not an object", body);
    return *std::move(tree);
}

task<batch_receipt> http_batch_endpoint::submit(batch_submission what, call_context context) {
    if (auto good = check(what); !good) co_return batch_receipt{std::move(good).error()};
    std::string file;
    if (auto upload = format_->upload(what)) {
        http_result sent = co_await send_again(*std::move(upload), context);
        if (!sent) co_return batch_receipt{std::move(sent).error()};
        if (!is_success(*sent)) co_return batch_receipt{failure_in(*sent, *context.loop)};
        const auto tree = read(sent->body);
        if (!tree) co_return batch_receipt{tree.error()};
        auto read_file = format_->read_upload(tree->get_object());
        if (!read_file) co_return batch_receipt{std::move(read_file).error()};
        file = *std::move(read_file);
    }
    batch_request create = format_->create(what, file);
    what.calls = {}; // they are in the request, and are large
    std::uint32_t written = 0;
    http_result sent = co_await send(std::move(create), &written, context);
    if (!sent) co_return batch_receipt{std::move(sent).error(), written != 0};
    if (!is_success(*sent)) {
        // Only these leave no doubt; others may come from a gateway, after the service.
        const bool refused =
            sent->status >= 400 && sent->status < 500 && sent->status != 408 && sent->status != 409;
        co_return batch_receipt{failure_in(*sent, *context.loop), !refused};
    }
    const auto tree = read(sent->body);
    if (!tree) co_return batch_receipt{tree.error(), true};
    result<batch_status> status = format_->read_status(tree->get_object());
    const bool doubtful = !status;
    co_return batch_receipt{std::move(status), doubtful};
}

task<result<batch_status>> http_batch_endpoint::poll(std::string id, call_context context) {
    http_result sent = co_await send_again(format_->poll(id), context);
    if (!sent) co_return std::move(sent).error();
    if (sent->status == 404) {
        batch_status gone;
        gone.id = std::move(id);
        gone.state = batch_state::gone;
        co_return gone;
    }
    if (!is_success(*sent)) co_return failure_in(*sent, *context.loop);
    const auto tree = read(sent->body);
    if (!tree) co_return tree.error();
    result<batch_status> status = format_->read_status(tree->get_object());
    if (status && status->id != id)
        co_return reader_.protocol_error("the response is about another batch", status->id);
    co_return status;
}

task<result<void>> http_batch_endpoint::fetch(batch_status of, batch_sink sink,
                                              call_context context) {
    const std::vector<batch_request> all = format_->results(of);
    for (const batch_request& each : all) {
        if (each.is_lines) {
            result<void> fetched = co_await fetch_lines(each, sink, context);
            if (!fetched) co_return fetched;
            continue;
        }
        http_result sent = co_await send_again(each, context);
        if (!sent) co_return std::move(sent).error();
        if (!is_success(*sent)) co_return failure_in(*sent, *context.loop);
        const auto tree = read(sent->body);
        if (!tree) co_return tree.error();
        const batch_sink cleaned = [&](batch_response received) {
            return hand_out(std::move(received), sink);
        };
        auto handed =
            format_->read_document(tree->get_object(), cleaned, context.loop->time_of_day());
        if (!handed) co_return std::move(handed).error();
    }
    co_return result<void>();
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): both outlive it
task<result<void>> http_batch_endpoint::fetch_lines(const batch_request& request,
                                                    const batch_sink& sink, call_context context) {
    retry_state tries(options_.retry, jitter_, context.loop->now());
    for (;;) {
        download lines(*this, sink, context.loop->time_of_day());
        http_request prepared = prepare(request);
        prepared.idempotent = true;
        ports::http_head_sink on_head = [&lines](const http_response& head) {
            return lines.begin(head);
        };
        ports::http_body_sink on_piece = [&lines](std::string_view piece) {
            return lines.take(piece);
        };
        http_result sent = co_await http_.stream(std::move(prepared), std::move(on_head),
                                                 std::move(on_piece), context);
        error failure;
        if (!sent) failure = from_http_error(std::move(sent).error(), name_);
        else if (!is_success(lines.head())) failure = failure_in(lines.head(), *context.loop);
        else {
            result<void> whole = lines.finish();
            if (whole) co_return whole;
            failure = std::move(whole).error();
        }
        const retry_decision next = tries.after(failure, context.loop->now(), context.until);
        if (!next.again) co_return failure;
        result<void> waited = co_await coro::sleep_until(context, next.at);
        if (!waited) co_return std::move(waited).error();
    }
}

task<result<std::vector<batch_status>>> http_batch_endpoint::list(std::int64_t since,
                                                                  call_context context) {
    std::vector<batch_status> found;
    std::string next;
    for (std::size_t pages = 0; pages < max_pages; ++pages) {
        http_result sent = co_await send_again(format_->list(next), context);
        if (!sent) co_return std::move(sent).error();
        if (!is_success(*sent)) co_return failure_in(*sent, *context.loop);
        const auto tree = read(sent->body);
        if (!tree) co_return tree.error();
        auto page = format_->read_page(tree->get_object());
        if (!page) co_return std::move(page).error();
        bool is_older = false; // services list the newest first
        for (batch_status& each : page->batches) {
            is_older = each.created && *each.created < since - clock_slack;
            // The clocks may differ by any amount; a mark does not.
            if (!is_older || !each.mark.empty()) found.push_back(std::move(each));
        }
        if (is_older || page->next.empty() || page->next == next) co_return found;
        next = std::move(page->next);
    }
    co_return error(ports::make_error_code(ports::llm_errc::protocol),
                    name_ + ": the list of batches does not end");
}

task<result<void>> http_batch_endpoint::cancel(std::string id, call_context context) {
    http_result sent = co_await send_again(format_->cancel(id), context);
    if (!sent) co_return std::move(sent).error();
    if (!is_success(*sent)) co_return failure_in(*sent, *context.loop);
    co_return result<void>();
}

} // namespace heddle::providers
