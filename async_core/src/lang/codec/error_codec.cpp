#include "lang/codec/error_codec.hpp"

#include "lang/codec/format.hpp"
#include "lang/codec/value_writer.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/text.hpp>

#include <boost/system/generic_category.hpp>
#include <boost/system/system_category.hpp>

#include <vector>

namespace heddle::lang::codec {

namespace {

constexpr std::size_t max_data = 16 * 1024 * 1024;

/// Has the name of a category that is not linked to this, or not known any more.
class named_category final : public boost::system::error_category {
public:
    explicit constexpr named_category(const char* name) noexcept : name_(name) {}
    const char* name() const noexcept override { return name_; }
    std::string message(int) const override { return "recorded error"; }

private:
    const char* name_;
};

[[nodiscard]] const boost::system::error_category& category_of(std::string_view name,
                                                               category_finder find) noexcept {
    for (const auto* each : {&base_category(), &lang_category(), &boost::system::generic_category(),
                             &boost::system::system_category()}) {
        if (each->name() == name) return *each;
    }
    if (const auto* found = find ? find(name) : nullptr) return *found;
    static const named_category http("heddle.http");
    static const named_category models("heddle.llm");
    static const named_category unknown("recorded");
    if (name == http.name()) return http;
    return name == models.name() ? models : unknown;
}

void put_data(std::string& out, const value& data) {
    std::string bytes;
    value_writer writer(bytes, max_data, if_no_data::describe);
    if (!writer.write(data)) bytes.assign(1, static_cast<char>(mark_nil));
    put_text(out, bytes);
}

[[nodiscard]] const script_payload* payload_of(const error& failure) noexcept {
    return dynamic_cast<const script_payload*>(failure.info().payload.get());
}

[[nodiscard]] std::uint8_t flags_of(const error& failure) noexcept {
    const error_info& info = failure.info();
    unsigned flags = 0;
    if (info.retry_after) flags |= has_retry_after;
    if (info.retryable) flags |= *info.retryable ? may_be_retried : is_final;
    if (info.attempts) flags |= has_attempts;
    if (payload_of(failure)) flags |= has_payload;
    if (!whole_message_of(failure).is_nil()) flags |= is_cut_message;
    return static_cast<std::uint8_t>(flags);
}

void put_trace(std::string& out, const trace_entry& line, const source_map* places) {
    const source_location place = places ? places->locate(line.where) : source_location();
    if (place.line == 0) return put_text(out, line.what);
    put_text(out, line.what + " (" + place.file + ":" + std::to_string(place.line) + ":" +
                      std::to_string(place.column) + ")");
}

void put_one(std::string& out, const error& failure, const source_map* places) {
    const error_info& info = failure.info();
    out.push_back(static_cast<char>(flags_of(failure)));
    put_text(out, info.code.category().name());
    put_number(out, folded(info.code.value()));
    const value whole = whole_message_of(failure);
    put_text(out, whole.is_nil() ? std::string_view(info.message) : string_bytes(whole));
    put_text(out, info.hint);
    out.push_back(static_cast<char>(info.origin));
    out.push_back(static_cast<char>(info.cancelled_because));
    if (info.retry_after) put_number(out, folded(info.retry_after->count()));
    if (info.attempts) put_number(out, *info.attempts);
    if (const script_payload* payload = payload_of(failure)) {
        put_text(out, payload->reason);
        unsigned flags = 0;
        if (payload->uncatchable) flags |= is_uncatchable;
        if (payload->complete) flags |= is_complete;
        out.push_back(static_cast<char>(flags));
        put_data(out, payload->data);
        put_data(out, payload->result);
    }
    put_number(out, info.trace.size());
    for (const trace_entry& line : info.trace) put_trace(out, line, places);
}

/// What comes before the error itself can be made.
struct fields {
    std::uint8_t flags = 0;
    std::string_view category;
    std::int64_t code = 0;
    std::string_view message;
    std::string_view hint;
    std::uint8_t origin = 0;
    std::uint8_t reason = 0;
};

[[nodiscard]] result<fields> read_fields(byte_reader& from) {
    fields built;
    HEDDLE_TRY(built.flags, from.byte());
    HEDDLE_TRY(built.category, from.text());
    HEDDLE_TRY(const std::uint64_t code, from.number());
    built.code = unfolded(code);
    HEDDLE_TRY(built.message, from.text());
    HEDDLE_TRY(built.hint, from.text());
    HEDDLE_TRY(built.origin, from.byte());
    HEDDLE_TRY(built.reason, from.byte());
    const bool fits = built.code == static_cast<int>(built.code) &&
                      built.origin <= static_cast<int>(error_origin::script) &&
                      built.reason <= static_cast<int>(cancel_reason::shutdown);
    if (!fits) return byte_reader::malformed();
    return built;
}

[[nodiscard]] error made_of(const fields& known, category_finder categories) {
    const auto reason = static_cast<cancel_reason>(known.reason);
    std::string message = (known.flags & is_cut_message) != 0
                              ? utf8::shortened(known.message, max_error_text)
                              : std::string(known.message);
    if (reason != cancel_reason::none) return error::cancelled(reason, std::move(message));
    return error(boost::system::error_code(static_cast<int>(known.code),
                                           category_of(known.category, categories)),
                 std::move(message));
}

[[nodiscard]] result<value> read_data(heap& memory, byte_reader& from) {
    HEDDLE_TRY(const std::string_view bytes, from.text());
    byte_reader inner(bytes);
    HEDDLE_TRY(value data, value_reader(memory, inner).read());
    if (inner.left() != 0) return byte_reader::malformed();
    return data;
}

/// `cut_message`: all of a message of which the error keeps the beginning; else empty.
[[nodiscard]] result<void> read_payload(heap& memory, byte_reader& from,
                                        std::string_view cut_message, error& out) {
    auto payload = std::make_shared<script_payload>();
    if (!cut_message.empty()) {
        if (!memory.can_allocate(cut_message.size()))
            return error(errc::limit, "a recorded answer needs more memory than is left");
        payload->message = make_string(memory, cut_message);
    }
    HEDDLE_TRY(payload->reason, from.text());
    HEDDLE_TRY(const std::uint8_t flags, from.byte());
    payload->uncatchable = (flags & is_uncatchable) != 0;
    payload->complete = (flags & is_complete) != 0;
    HEDDLE_TRY(payload->data, read_data(memory, from));
    HEDDLE_TRY(payload->result, read_data(memory, from));
    out = std::move(out).with_payload(std::move(payload));
    return {};
}

[[nodiscard]] result<void> read_one(heap& memory, byte_reader& from, category_finder categories,
                                    error& out) {
    HEDDLE_TRY(const fields known, read_fields(from));
    out = made_of(known, categories);
    out = std::move(out).with_origin(static_cast<error_origin>(known.origin));
    if (!known.hint.empty()) out = std::move(out).with_hint(std::string(known.hint));
    if (known.flags & has_retry_after) {
        HEDDLE_TRY(const std::uint64_t wait, from.number());
        out = std::move(out).with_retry_after(std::chrono::milliseconds(unfolded(wait)));
    }
    if (known.flags & (may_be_retried | is_final))
        out = std::move(out).with_retryable((known.flags & may_be_retried) != 0);
    if (known.flags & has_attempts) {
        HEDDLE_TRY(const std::uint64_t attempts, from.number());
        out = std::move(out).with_attempts(static_cast<std::uint32_t>(attempts));
    }
    if (known.flags & has_payload) {
        const bool is_cut = (known.flags & is_cut_message) != 0;
        HEDDLE_CHECK(read_payload(memory, from, is_cut ? known.message : std::string_view(), out));
    }
    HEDDLE_TRY(const std::uint64_t lines, from.count());
    for (std::uint64_t i = 0; i < lines; ++i) {
        HEDDLE_TRY(const std::string_view line, from.text());
        if (!memory.can_allocate((i + 1) * sizeof(trace_entry)))
            return error(errc::limit, "a recorded answer needs more memory than is left");
        out = std::move(out).with_trace(std::string(line));
    }
    return {};
}

} // namespace

void write_error(std::string& out, const error& failure, const source_map* places) {
    std::vector<const error*> chain;
    for (const error* each = &failure; each && chain.size() < max_chain;
         each = each->info().cause.get())
        chain.push_back(each);
    put_number(out, chain.size());
    for (const error* each : chain) put_one(out, *each, places);
}

result<void> read_error(heap& memory, byte_reader& from, category_finder categories, error& out) {
    HEDDLE_TRY(const std::uint64_t many, from.count());
    if (many == 0 || many > max_chain) return byte_reader::malformed();
    std::vector<error> chain(many);
    for (error& each : chain) HEDDLE_CHECK(read_one(memory, from, categories, each));
    for (std::size_t i = chain.size() - 1; i > 0; --i)
        chain[i - 1] = std::move(chain[i - 1]).with_cause(std::move(chain[i]));
    out = std::move(chain.front());
    return {};
}

} // namespace heddle::lang::codec
