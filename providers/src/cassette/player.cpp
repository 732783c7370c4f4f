#include <heddle/providers/cassette/cassette.hpp>

#include <heddle/coro/wait_point.hpp>

#include "cassette/cassette_line.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;

namespace {

constexpr std::size_t max_line_length = 256 * 1024 * 1024;
constexpr std::size_t max_compared = 2000; ///< recordings that a missing call is held against

/// Marks the error of a call that is missing.
class not_recorded final : public error_payload {};

} // namespace

struct cassette_player::state {
    std::string name;
    cassette_matching matching = cassette_matching::strict;
    std::string default_model;
    std::string warning;
    std::vector<std::string> providers;
    std::vector<recorded_call> calls;
    std::vector<bool> played;
    std::size_t left = 0;
    std::unordered_map<std::string, std::deque<std::size_t>> by_key;

    std::string key_of(std::string_view provider, std::string_view request) const {
        if (matching == cassette_matching::lenient) return lenient_cassette_key(request);
        return std::string(provider) + '\n' + std::string(request);
    }

    result<void> add(std::string_view line) {
        HEDDLE_TRY(recorded_call call, read_cassette_call(line));
        if (std::find(providers.begin(), providers.end(), call.provider) == providers.end()) {
            providers.push_back(call.provider);
        }
        by_key[key_of(call.provider, call.request)].push_back(calls.size());
        calls.push_back(std::move(call));
        return {};
    }

    /// The recording of a call, or null.
    const recorded_call* take(std::string_view provider, const std::string& request) {
        const auto found = by_key.find(key_of(provider, request));
        if (found == by_key.end() || found->second.empty()) return nullptr;
        std::deque<std::size_t>& waiting = found->second;
        const std::size_t index = waiting.front();
        const bool keep_last = matching == cassette_matching::lenient && waiting.size() == 1;
        if (!keep_last) waiting.pop_front();
        if (!played[index]) --left;
        played[index] = true;
        return &calls[index];
    }

    error missing(std::string_view provider, const std::string& request) const {
        std::vector<std::string> least;
        bool found = false;
        bool repeated = false;
        for (std::size_t i = 0; i < std::min(calls.size(), max_compared); ++i) {
            std::vector<std::string> differs = differing_members(calls[i].request, request);
            if (calls[i].provider != provider) differs.emplace_back("provider");
            if (differs.empty()) repeated = true;
            if (found && differs.size() >= least.size()) continue;
            least = std::move(differs);
            found = true;
        }
        std::string what = name + ": this call of " + std::string(provider) + " was not recorded";
        if (repeated) what += " so many times";
        error failure(ports::make_error_code(ports::llm_errc::configuration), std::move(what));
        std::string hint;
        if (repeated) {
            hint = "the run makes more calls than the recorded one; record it again";
        } else if (found && !least.empty()) {
            hint = "the nearest recording differs in";
            for (std::size_t i = 0; i < least.size(); ++i) {
                hint += (i == 0 ? " " : ", ") + least[i];
            }
            hint += "; record it again, or replay leniently";
        } else {
            hint = "record the run again";
        }
        return std::move(failure)
            .with_hint(std::move(hint))
            .with_retryable(false)
            .with_payload(std::make_shared<not_recorded>());
    }
};

class playing_provider final : public ports::llm_port {
public:
    playing_provider(cassette_player::state& cassette, std::string name)
        : cassette_(cassette), name_(std::move(name)) {}

    std::string_view provider_name() const noexcept override { return name_; }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the port requires it
    task<result<chat_response>> complete(const chat_request& request,
                                         call_context context) override {
        co_await coro::yield_now(*context.loop); // as a call would: others come in between
        if (auto stop = context.stop_error()) co_return std::move(*stop).with_attempts(0);
        const std::string key = cassette_key(request);
        const recorded_call* call = cassette_.take(name_, key);
        if (!call) co_return cassette_.missing(name_, key);
        co_return *call->outcome;
    }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
    task<result<chat_response>> stream(const chat_request& request, ports::chat_delta_sink on_delta,
                                       call_context context) override {
        const std::string key = cassette_key(request);
        const recorded_call* call = cassette_.take(name_, key);
        if (!call) co_return cassette_.missing(name_, key);
        const std::string_view text = text_of(*call->outcome);
        std::size_t at = 0;
        std::vector<std::size_t> pieces = call->pieces;
        if (pieces.empty() && !text.empty()) pieces.push_back(text.size());
        for (const std::size_t size : pieces) {
            co_await coro::yield_now(*context.loop);
            if (auto stop = context.stop_error()) {
                co_return broken_off(*std::move(stop), text.substr(0, at));
            }
            const std::string_view piece = text.substr(std::min(at, text.size()), size);
            at += size;
            if (piece.empty() || !on_delta) continue;
            result<void> taken = on_delta(piece);
            if (!taken) co_return broken_off(std::move(taken).error(), text.substr(0, at));
        }
        co_return *call->outcome;
    }

private:
    static error broken_off(error failure, std::string_view text) {
        chat_response so_far = ports::begun_response();
        so_far.text = text;
        return std::move(failure).with_payload(
            std::make_shared<ports::partial_response>(std::move(so_far)));
    }
    /// What was handed out before the end: all of a response, or the part of one that broke.
    static std::string_view text_of(const result<chat_response>& outcome) {
        if (outcome) return outcome->text;
        const auto* partial =
            dynamic_cast<const ports::partial_response*>(outcome.error().info().payload.get());
        return partial ? std::string_view(partial->so_far.text) : std::string_view();
    }

    cassette_player::state& cassette_;
    std::string name_;
};

bool is_not_recorded(const error& failure) noexcept {
    return dynamic_cast<const not_recorded*>(failure.info().payload.get()) != nullptr;
}

cassette_player::cassette_player(std::unique_ptr<state> object) : state_(std::move(object)) {}
cassette_player::~cassette_player() = default;

result<std::unique_ptr<cassette_player>> cassette_player::open(std::string name, std::string text,
                                                               cassette_matching matching) {
    auto object = std::make_unique<state>();
    object->name = std::move(name);
    object->matching = matching;
    std::size_t number = 0;
    const auto at_line = [&](error failure) {
        return error(failure.code(),
                     object->name + ":" + std::to_string(number) + ": " + failure.message())
            .with_hint(failure.info().hint);
    };
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++number;
        if (line.empty()) continue;
        if (line.size() > max_line_length) {
            return at_line(error(errc::limit_exceeded, "the line is too long"));
        }
        if (number == 1) {
            auto model = read_cassette_header(line);
            if (!model) return at_line(std::move(model).error());
            object->default_model = *std::move(model);
        } else if (auto added = object->add(line); !added) {
            error failure = at_line(std::move(added).error());
            // The run that recorded it was killed, or the machine went down, in the middle of a
            // line.
            const bool cut = rest.empty() && text.back() != '\n' && !is_whole_line(line);
            if (!cut) return failure;
            object->warning = object->name + ":" + std::to_string(number) +
                              ": the last line is cut short and is ignored";
        }
    }
    if (number == 0) {
        return error(errc::invalid_argument, object->name + ": the recording is empty")
            .with_hint("--record FILE creates one");
    }
    object->left = object->calls.size();
    object->played.resize(object->calls.size());
    return std::unique_ptr<cassette_player>(new cassette_player(std::move(object)));
}

const std::vector<std::string>& cassette_player::providers() const noexcept {
    return state_->providers;
}
const std::string& cassette_player::default_model() const noexcept { return state_->default_model; }
const std::string& cassette_player::warning() const noexcept { return state_->warning; }
std::unique_ptr<ports::llm_port> cassette_player::play(std::string provider) {
    return std::make_unique<playing_provider>(*state_, std::move(provider));
}
std::size_t cassette_player::size() const noexcept { return state_->calls.size(); }
std::size_t cassette_player::unplayed() const noexcept { return state_->left; }

} // namespace heddle::providers
