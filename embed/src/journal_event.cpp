#include "journal_event.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

namespace heddle::embed {

namespace {

/// The first byte of each event. Other values belong to later versions.
constexpr std::uint8_t layout = 1;

class byte_writer {
public:
    template <class Number>
    requires(std::is_integral_v<Number> || std::is_enum_v<Number>) void put(Number number) {
        auto left = static_cast<std::uint64_t>(number);
        for (std::size_t i = 0; i < sizeof(Number); ++i, left >>= 8)
            bytes_.push_back(static_cast<char>(left & 0xff));
    }
    void put(double number) { put(std::bit_cast<std::uint64_t>(number)); }
    void put(const ports::digest128& digest) {
        put(digest.high);
        put(digest.low);
    }
    void put(const std::string& text) {
        put(static_cast<std::uint64_t>(text.size()));
        bytes_ += text;
    }
    void put(const ports::step_spending& spent) {
        put(spent.requests);
        put(spent.input_tokens);
        put(spent.output_tokens);
        put(spent.cost_usd);
        put(spent.unpriced);
        put(static_cast<std::uint8_t>(spent.estimated));
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

/// After bytes that end too early it reads zeros.
class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) noexcept : rest_(bytes) {}

    template <class Number>
    requires(std::is_integral_v<Number> || std::is_enum_v<Number>) void get(Number& number) {
        if (rest_.size() < sizeof(Number)) {
            fail();
            return;
        }
        std::uint64_t found = 0;
        for (std::size_t i = sizeof(Number); i-- > 0;)
            found = found << 8 | static_cast<unsigned char>(rest_[i]);
        rest_.remove_prefix(sizeof(Number));
        number = static_cast<Number>(found);
    }
    void get(double& number) {
        std::uint64_t bits = 0;
        get(bits);
        number = std::bit_cast<double>(bits);
    }
    void get(ports::digest128& digest) {
        get(digest.high);
        get(digest.low);
    }
    void get(std::string& text) {
        std::uint64_t size = 0;
        get(size);
        if (size > rest_.size()) return fail();
        text = rest_.substr(0, size);
        rest_.remove_prefix(size);
    }
    void get(ports::step_spending& spent) {
        get(spent.requests);
        get(spent.input_tokens);
        get(spent.output_tokens);
        get(spent.cost_usd);
        get(spent.unpriced);
        std::uint8_t estimated = 0;
        get(estimated);
        spent.estimated = estimated != 0;
    }
    /// Whether all was there, and nothing else.
    [[nodiscard]] bool is_right() const noexcept { return !failed_ && rest_.empty(); }
    [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }
    void fail() noexcept {
        failed_ = true;
        rest_ = {};
    }

private:
    std::string_view rest_;
    bool failed_ = false;
};

// The members of an event in their order, for writing and reading.
template <class Event, class Visit>
void each_member(Event& event, Visit visit) {
    using type = std::remove_const_t<Event>;
    if constexpr (std::is_same_v<type, call_begun>) {
        visit(event.content);
        visit(event.text);
    } else if constexpr (std::is_same_v<type, ports::step_record>) {
        visit(event.kind);
        visit(event.path);
        visit(event.content);
        visit(event.at);
        visit(event.name);
        visit(event.body);
        visit(event.spent);
    } else if constexpr (std::is_same_v<type, ports::spare_use>) {
        visit(event.number);
        visit(event.to);
        visit(event.at);
    } else if constexpr (std::is_same_v<type, ports::row_end>) {
        visit(event.status);
        visit(event.value_json);
        visit(event.error_json);
        visit(event.attempts);
        visit(event.duration_ms);
        visit(event.spent);
    } else if constexpr (std::is_same_v<type, ports::row_work>) {
        visit(event.attempts);
        visit(event.duration_ms);
    }
}

template <class Event>
void read_event(byte_reader& from, Event& event) {
    if constexpr (std::is_same_v<Event, call_revised>) {
        std::uint64_t count = 0;
        from.get(count);
        if (count > from.left() / sizeof(count)) return from.fail();
        event.discarded.resize(count);
        for (std::uint64_t& each : event.discarded) from.get(each);
    } else {
        each_member(event, [&](auto& member) { from.get(member); });
        if constexpr (std::is_same_v<Event, ports::step_record>) ports::read_stored_body(event);
    }
}

template <std::size_t I = 0>
bool read_alternative(std::size_t wanted, byte_reader& from, journal_event& into) {
    if constexpr (I == std::variant_size_v<journal_event>) {
        return false;
    } else {
        if (wanted != I) return read_alternative<I + 1>(wanted, from, into);
        std::variant_alternative_t<I, journal_event> read;
        read_event(from, read);
        into = std::move(read);
        return true;
    }
}

} // namespace

std::string bytes_of(const journal_event& event) {
    byte_writer to;
    to.put(layout);
    to.put(static_cast<std::uint8_t>(event.index()));
    std::visit(
        [&]<class Event>(const Event& of) {
            if constexpr (std::is_same_v<Event, call_revised>) {
                to.put(static_cast<std::uint64_t>(of.discarded.size()));
                for (const std::uint64_t each : of.discarded) to.put(each);
            } else if constexpr (std::is_same_v<Event, ports::step_record>) {
                ports::step_record stored = of;
                stored.body = ports::stored_body(of);
                each_member(stored, [&](const auto& member) { to.put(member); });
            } else {
                each_member(of, [&](const auto& member) { to.put(member); });
            }
        },
        event);
    return to.take();
}

result<journal_event> event_of(std::string_view bytes) {
    byte_reader from(bytes);
    std::uint8_t version = 0;
    std::uint8_t kind = 0;
    from.get(version);
    from.get(kind);
    journal_event read;
    const bool is_known = version == layout && read_alternative(kind, from, read);
    if (is_known && from.is_right()) return read;
    if (version > layout) {
        return error(errc::io_error, "the journal has a record of a later version of heddle")
            .with_hint("forget the call, or use that version");
    }
    return error(errc::io_error, "the journal has a damaged record")
        .with_hint("the store must return each record as it was appended");
}

// The statements of io/src/store/run_table_writer.cpp do the same to a row.
void recorded_row::apply(journal_event event) {
    if (auto* begun = std::get_if<call_begun>(&event)) {
        is_known = true;
        status = ports::row_status::begun;
        content = begun->content;
        text = std::move(begun->text);
    } else if (std::holds_alternative<call_retried>(event)) {
        ended.reset();
        status = ports::row_status::begun;
    } else if (auto* revised = std::get_if<call_revised>(&event)) {
        before_ms = work().duration_ms;
        records = ports::revised(std::move(records), revised->discarded);
        ended.reset();
        status = ports::row_status::begun;
    } else if (auto* record = std::get_if<ports::step_record>(&event)) {
        record->number = next_number++;
        records.push_back(std::move(*record));
    } else if (const auto* use = std::get_if<ports::spare_use>(&event)) {
        const auto spare = std::find_if(records.begin(), records.end(), [&](const auto& each) {
            return each.number == use->number &&
                   (each.kind == ports::step_kind::spare || each.kind == ports::step_kind::due);
        });
        if (spare == records.end()) return;
        // Last, where it was used: a retry drops what came before it.
        ports::step_record used = std::move(*spare);
        records.erase(spare);
        used.kind = used.kind == ports::step_kind::due ? ports::step_kind::request
                                                       : ports::step_kind::reused;
        used.path = use->to;
        used.part = {}; // of the earlier program
        used.at = use->at;
        used.number = next_number++;
        records.push_back(std::move(used));
    } else if (auto* end = std::get_if<ports::row_end>(&event)) {
        status = end->status;
        noted = {end->attempts, end->duration_ms};
        ended = std::move(*end);
    } else if (const auto* work = std::get_if<ports::row_work>(&event)) {
        noted = *work;
    }
}

ports::row_work recorded_row::work() const noexcept {
    ports::row_work sum = noted;
    sum.duration_ms = std::max(sum.duration_ms, before_ms);
    // A process that was killed has noted nothing but its records.
    for (const ports::step_record& each : records) {
        if (ports::is_of_earlier_program(each.kind)) continue;
        const auto recorded = static_cast<std::int64_t>(std::ceil(each.at * 1000));
        sum.duration_ms = std::max(sum.duration_ms, before_ms + recorded);
    }
    return sum;
}

} // namespace heddle::embed
