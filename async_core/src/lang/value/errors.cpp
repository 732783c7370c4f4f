#include <heddle/lang/errors.hpp>

#include "references.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/base/valid_error.hpp>
#include <heddle/lang/extent_mark.hpp>
#include <heddle/lang/text.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

class lang_category_impl final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "heddle.lang"; }
    std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
        case errc::ok: return "no error";
        case errc::syntax: return "syntax error";
        case errc::evaluation: return "evaluation error";
        case errc::unbound: return "unbound symbol";
        case errc::arity: return "wrong number of arguments";
        case errc::type: return "wrong type";
        case errc::limit: return "limit exceeded";
        case errc::permission: return "not permitted";
        case errc::timeout: return "time is up";
        case errc::user: return "error raised by the program";
        case errc::task: return "task failed";
        }
        return "unknown language error";
    }
};

[[nodiscard]] std::string_view lang_kind_name(errc code) noexcept {
    switch (code) {
    case errc::ok: break;
    case errc::syntax: return "SexpSyntaxError";
    case errc::evaluation: return "SexpEvaluationError";
    case errc::unbound: return "UnboundSymbolError";
    case errc::arity: return "ArityError";
    case errc::type: return "TypeError";
    case errc::limit: return "LimitError";
    case errc::permission: return "PermissionError";
    case errc::timeout: return "TimeoutError";
    case errc::user: return "UserError";
    case errc::task: return "TaskError";
    }
    return "Error";
}

[[nodiscard]] std::string_view base_kind_name(heddle::errc code) noexcept {
    switch (code) {
    case heddle::errc::ok: break;
    case heddle::errc::cancelled: return "CancelledError";
    case heddle::errc::invalid_argument: return "InvalidArgumentError";
    case heddle::errc::limit_exceeded: return "LimitError";
    case heddle::errc::not_found: return "NotFoundError";
    case heddle::errc::io_error: return "IoError";
    case heddle::errc::internal: return "InternalError";
    }
    return "Error";
}

} // namespace

const boost::system::error_category& lang_category() noexcept {
    static const lang_category_impl category;
    return category;
}

std::string_view error_kind_name(const error& failure) noexcept {
    if (failure.is_cancelled()) return "CancelledError";
    const auto& code = failure.code();
    if (code.category() == lang_category()) return lang_kind_name(static_cast<errc>(code.value()));
    if (code.category() == base_category()) {
        return base_kind_name(static_cast<heddle::errc>(code.value()));
    }
    // Categories of libraries above this one are known by their name only.
    const std::string_view category = code.category().name();
    if (category == "heddle.http") return "HttpError";
    if (category == "heddle.llm") return "ModelError";
    return "Error";
}

errc errc_of_kind(std::string_view name) noexcept {
    for (const errc each : {errc::syntax, errc::unbound, errc::arity, errc::type, errc::limit,
                            errc::permission, errc::timeout, errc::user, errc::task}) {
        if (lang_kind_name(each) == name) return each;
    }
    return errc::evaluation;
}

bool is_evaluation_error(const error& failure) noexcept {
    if (failure.is_cancelled()) return false;
    const auto& code = failure.code();
    if (code == heddle::errc::limit_exceeded) return true;
    if (code.category() != lang_category()) return false;
    switch (static_cast<errc>(code.value())) {
    case errc::evaluation:
    case errc::unbound:
    case errc::arity:
    case errc::type:
    case errc::limit:
    case errc::permission: return true;
    default: return false;
    }
}

namespace {

const script_payload* payload_of(const error& failure) noexcept {
    return dynamic_cast<const script_payload*>(failure.info().payload.get());
}

} // namespace

error error_with_message(errc code, const value& message, std::shared_ptr<script_payload> payload) {
    const std::string_view text = string_bytes(message);
    if (text.size() > max_error_text) payload->message = message;
    return error_of_valid_text(code, utf8::shortened(text, max_error_text))
        .with_payload(std::move(payload));
}

value whole_message_of(const error& failure) {
    const script_payload* payload = payload_of(failure);
    // A layer may have put the error in other words.
    const bool is_its_own =
        payload && !payload->message.is_nil() &&
        utf8::shortened(string_bytes(payload->message), max_error_text) == failure.message();
    return is_its_own ? payload->message : value();
}

const value* extent_of(const error& failure) noexcept {
    const script_payload* payload = payload_of(failure);
    return payload && !payload->extent.is_nil() ? &payload->extent : nullptr;
}

namespace {

/// The error with a payload of its own, after `change`.
template <class Change>
error with_changed_payload(error failure, Change&& change) {
    const script_payload* known = payload_of(failure);
    auto payload =
        known ? std::make_shared<script_payload>(*known) : std::make_shared<script_payload>();
    change(*payload);
    return std::move(failure).with_payload(std::move(payload));
}

} // namespace

std::optional<double> began_extent_of(const error& failure) noexcept {
    const script_payload* payload = payload_of(failure);
    return payload ? payload->began : std::nullopt;
}

error with_extent(error failure, value extent) {
    return with_changed_payload(std::move(failure), [&](script_payload& payload) {
        payload.complete = payload.complete && !extent.is_nil();
        const auto* left = extent.is_nil() ? host_as<extent_mark>(payload.extent) : nullptr;
        if (left && !std::isnan(left->began())) payload.began = left->began();
        payload.extent = std::move(extent);
    });
}

error made_uncatchable(error failure) {
    return with_changed_payload(std::move(failure),
                                [](script_payload& payload) { payload.uncatchable = true; });
}

error made_complete(error failure) {
    return with_changed_payload(std::move(failure),
                                [](script_payload& payload) { payload.complete = true; });
}

bool is_complete(const error& failure) noexcept {
    const script_payload* payload = payload_of(failure);
    return payload && payload->complete;
}

error with_outer_line(error failure, std::string line) {
    if (is_complete(failure)) return failure;
    return std::move(failure).with_trace(std::move(line));
}

namespace {

[[nodiscard]] bool holds_references(const error& failure) noexcept {
    const script_payload* payload = payload_of(failure);
    return payload && (may_hold_references(payload->data) || may_hold_references(payload->result) ||
                       may_hold_references(payload->extent));
}

} // namespace

error kept_apart(error failure) {
    // An end that ten thousand branches share is not to be copied for each; it holds no data.
    if (is_complete(failure)) return failure;
    std::size_t length = 0; // up to the last that holds values
    std::size_t seen = 0;
    bool shared = false;
    bool shared_so_far = false;
    for (const error* each = &failure; each; each = each->info().cause.get()) {
        const error_info& info = each->info();
        ++seen;
        shared_so_far = shared_so_far || info.references.load(std::memory_order_relaxed) != 1 ||
                        info.payload.use_count() > 1;
        if (holds_references(*each)) {
            length = seen;
            shared = shared_so_far;
        }
        shared_so_far = shared_so_far || info.cause.use_count() > 1;
    }
    if (!shared) return failure;
    std::vector<error> chain{std::move(failure)};
    while (chain.size() < length) chain.push_back(error(*chain.back().info().cause));
    std::optional<error> causes;
    if (const auto& rest = chain.back().info().cause) causes = *rest;
    for (; !chain.empty(); chain.pop_back()) {
        error own = std::move(chain.back());
        if (const script_payload* known = payload_of(own))
            own = std::move(own).with_payload(std::make_shared<script_payload>(*known));
        causes = causes ? std::move(own).with_cause(*std::move(causes)) : std::move(own);
    }
    return *std::move(causes);
}

void visit_error(host_object::value_visitor& visitor, const error& failure) {
    for (const error* each = &failure; each; each = each->info().cause.get()) {
        const error_info& info = each->info();
        if (info.references.load(std::memory_order_relaxed) != 1) return;
        const script_payload* payload = payload_of(*each);
        if (payload && info.payload.use_count() == 1) {
            for (const value* held : {&payload->data, &payload->result, &payload->extent})
                visitor.visit(*held);
        }
        if (info.cause.use_count() > 1) return;
    }
}

std::size_t footprint(const error& failure) noexcept {
    if (is_complete(failure)) return 0; // shared by all
    std::size_t bytes = 0;
    for (const error* each = &failure; each; each = each->info().cause.get()) {
        const error_info& info = each->info();
        bytes += sizeof(error_info) + info.message.size() + info.hint.size();
        if (info.payload) bytes += sizeof(script_payload) + 16;
        bytes += info.trace.capacity() * sizeof(trace_entry);
        for (const trace_entry& line : info.trace) bytes += line.what.size();
    }
    return bytes;
}

bool passes_catches(const error& failure) noexcept {
    if (failure.is_cancelled()) return true;
    const script_payload* payload = payload_of(failure);
    return payload && (payload->uncatchable || !payload->extent.is_nil());
}

error task_error(std::string reason, std::string message) {
    auto payload = std::make_shared<script_payload>();
    payload->reason = std::move(reason);
    return error(errc::task, std::move(message)).with_payload(std::move(payload));
}

} // namespace heddle::lang
