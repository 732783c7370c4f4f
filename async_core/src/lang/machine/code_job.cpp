#include "code_job.hpp"

#include "lang/realm/code_service.hpp"
#include "lang/text/given_back.hpp"
#include "lang/value/seen_lists.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t stack_bytes = 4 * 1024 * 1024; ///< deeper code gets a stack of its own
constexpr std::size_t much_code = 2000;              ///< parts: about a millisecond

} // namespace

namespace {

/// Reading as a part of compiling.
class reading_work final : public work_meter {
public:
    explicit reading_work(compile_watch& watch) noexcept
        : work_meter(units_of_a_look), watch_(watch) {}
    /// Why it was stopped.
    [[nodiscard]] std::optional<error> take_stop() { return std::move(stop_); }

private:
    static constexpr std::uint64_t steps_of_a_look = 256;
    static constexpr std::uint64_t units_of_a_look = steps_of_a_look * units_of_a_step;

    bool pass() override {
        if (stopped_) return false;
        const std::uint64_t steps = (done_ - paid_) / units_of_a_step;
        paid_ += steps * units_of_a_step;
        stop_ = watch_.spend(steps);
        stopped_ = stop_.has_value();
        until_ = done_ + units_of_a_look;
        return !stopped_;
    }
    bool foresee(std::uint64_t) override { return true; }

    compile_watch& watch_;
    std::uint64_t paid_ = 0;
    std::optional<error> stop_;
};

/// The forms of the text. The error that stops it.
std::optional<error> take_forms(realm& realm, code_order& order, compile_watch& watch) {
    reading_work work(watch);
    read_options options;
    options.work = &work;
    auto forms = read_all(realm.memory(), order.text, order.text_position, options);
    if (auto stop = work.take_stop()) return stop;
    if (!forms) return std::move(forms).error();
    order.forms = *std::move(forms);
    order.text = {};
    return std::nullopt;
}

/// The names of the map, each with a cell, and a place for what the code defines. The error that
/// stops it.
std::optional<error> take_names(realm& realm, code_order& order, compile_watch& watch) {
    constexpr std::size_t names_in_a_go = 64;
    std::vector<eval_scope::name>& names = order.site->innermost->names;
    names.reserve(order.names.length() + 1);
    order.cells.reserve(order.cells.size() + order.names.length() + 1);
    for (const map_entry& entry : map_entries(order.names)) {
        names.emplace_back().text = string_bytes(entry.key);
        names.back().bound_from = 0;
        order.cells.push_back(make_cell(realm.memory(), entry.item));
        if (names.size() % names_in_a_go != 0) continue;
        if (auto stop = watch.spend(names_in_a_go)) return stop;
    }
    order.add_extras(realm.memory());
    return std::nullopt;
}

/// The cells of the names that the site sees, outermost first, and behind them the environment.
std::optional<error> take_cells(code_order& order, compile_watch& watch) {
    constexpr std::size_t cells_of_a_unit = 64;
    const std::vector<eval_site::level> levels = order.request.site->levels();
    std::vector<const value*> environments(levels.size());
    const value* each = &order.environment;
    for (std::size_t i = levels.size(); i-- != 0; each = &list_items(*each)[0])
        environments[i] = each;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const auto cells = list_items(*environments[i]).subspan(1);
        const std::size_t seen = levels[i].scope->seen_by(levels[i].eval);
        order.cells.insert(order.cells.end(), cells.begin(),
                           cells.begin() + static_cast<std::ptrdiff_t>(seen));
        if (auto stop = watch.spend(seen / cells_of_a_unit)) return stop;
    }
    order.cells.push_back(order.environment);
    return std::nullopt;
}

/// Appends the environment of an eval in the code, after the cells of its own site.
void make_environment(heap& memory, code_order& order) {
    std::vector<value> items{value()};
    const auto first = order.cells.begin() + (order.site->in_sandbox ? 1 : 0);
    items.insert(items.end(), first, order.cells.end());
    order.cells.push_back(make_list(memory, items));
}

/// What a long list of names has left goes in turns.
void forget_names(code_order& order, compile_watch& watch) {
    constexpr std::size_t portion = 256;
    constexpr std::uint64_t steps = 64;
    const auto drop = [&watch](auto& parts) {
        while (!parts.empty()) {
            parts.pop_back();
            if (parts.size() % portion == portion - 1) (void)watch.spend(steps);
        }
        give_back_in_portions(parts.data(), parts.capacity() * sizeof(parts[0]), [&watch] {
            (void)watch.spend(steps);
            return true;
        });
    };
    drop(order.cells);
    if (!order.site || !order.names.is(kind::map)) return;
    // An eval in the code sees them, too.
    if (order.site->innermost.use_count() == 1) drop(order.site->innermost->names);
}

} // namespace

void code_order::see_nothing(heap& memory, const value& policy) {
    site = std::make_unique<eval_site>();
    site->innermost = std::make_shared<eval_scope>();
    cells.clear();
    environment = {};
    request.site = site.get();
    if (policy.is_nil()) return;
    site->in_sandbox = true;
    cells.push_back(make_cell(memory, policy));
}

void code_order::add_extras(heap& memory) {
    eval_scope::name& place = site->innermost->names.emplace_back();
    place.text = extras_name;
    place.is_extras = true;
    cells.push_back(make_cell(memory, value::unbound()));
}

result<value> carry_out(realm& realm, code_order& order, compile_watch& watch) {
    order.request.watch = &watch;
    if (!order.text.empty()) {
        if (auto stop = take_forms(realm, order, watch)) return *std::move(stop);
    }
    if (order.names.is(kind::map)) {
        if (auto stop = take_names(realm, order, watch)) return *std::move(stop);
    }
    if (order.environment.is(kind::list)) {
        if (auto stop = take_cells(order, watch)) return *std::move(stop);
    }
    if (order.expands_only)
        return realm.stages().expand_macros(realm, order.forms.front(), order.request);
    auto code = realm.stages().compile(realm, order.forms, order.request);
    if (!code) {
        forget_names(order, watch);
        return std::move(code).error();
    }
    const auto& captures = (*code)->captures;
    const auto is_environment = [&](const capture& each) {
        return each.index == order.cells.size();
    };
    if (std::any_of(captures.begin(), captures.end(), is_environment))
        make_environment(realm.memory(), order);
    value created =
        make_closure(realm.memory(), **code, static_cast<std::uint32_t>(captures.size()),
                     order.scope->sandbox.as_value());
    for (std::size_t i = 0; i < captures.size(); ++i)
        closure_of(created)->captured()[i] = order.cells[captures[i].index];
    forget_names(order, watch);
    return created;
}

bool takes_long(realm& realm, const code_order& order) {
    if (!order.text.empty()) return true;
    if (order.names.length() > much_code) return true;
    const bool macros = !order.request.limits.closed;
    const bool defined = realm.has_macros();
    seen_lists seen;
    std::vector<const value*> work;
    for (const datum& each : order.forms) work.push_back(&each.content);
    for (std::size_t parts = 0; !work.empty();) {
        const value& next = *work.back();
        work.pop_back();
        if (!next.is(kind::list) || !seen.first_time(next)) continue;
        const auto items = list_items(next);
        parts += items.size() + 1;
        if (parts > much_code) return true;
        if (macros && !items.empty() && items[0].is(kind::symbol)) {
            const std::string_view name = symbol_name(items[0]);
            if (name == "defmacro" || (defined && realm.find_macro(name))) return true;
        }
        for (const value& item : items) {
            if (item.is(kind::list)) work.push_back(&item);
        }
    }
    return false;
}

namespace {

/// The first compilation of a program. What does not take long is done in one go.
class program_job final : public turn_job, private compile_watch {
public:
    program_job(realm& realm, code_order order, function_ref& compiled)
        : realm_(realm), order_(std::move(order)), compiled_(compiled) {}

    [[nodiscard]] native_stack::progress resume() override {
        if (!turns_ && takes_long(realm_, order_))
            turns_ = std::make_unique<code_job>(realm_, std::move(order_));
        if (turns_) return turns_->resume();
        result_.emplace(carry_out(realm_, order_, *this));
        return native_stack::progress::ended;
    }
    [[nodiscard]] std::uint64_t take_spent() noexcept override {
        return turns_ ? turns_->take_spent() : std::exchange(spent_, 0);
    }
    [[nodiscard]] source_span place() const noexcept override {
        return turns_ ? turns_->place() : now_at;
    }
    [[nodiscard]] result<value> take() override {
        result<value> outcome = turns_ ? turns_->take() : *std::move(result_);
        if (outcome) {
            const function* code = closure_of(*outcome)->code;
            function_retain(code);
            compiled_ = function_ref(code);
        }
        return outcome;
    }

private:
    /// The limits are looked at as soon as it has ended.
    std::optional<error> spend(std::uint64_t work) override {
        spent_ += work;
        return std::nullopt;
    }

    realm& realm_;
    code_order order_;
    function_ref& compiled_;
    std::unique_ptr<code_job> turns_; ///< null: in one go
    std::optional<result<value>> result_;
    std::uint64_t spent_ = 0;
};

} // namespace

std::unique_ptr<fiber> start_program(realm& realm, std::vector<datum> forms, scope_ref scope,
                                     function_ref& compiled) {
    auto object = std::make_unique<fiber>(realm);
    object->scope_ = std::move(scope);
    object->slot_ = realm.next_fiber_number();
    object->reserve(1);
    code_order order;
    order.forms = std::move(forms);
    order.scope = object->scope_;
    object->job_ = std::make_unique<pending_job>();
    object->job_->job = std::make_unique<program_job>(realm, std::move(order), compiled);
    object->job_->then = pending_job::next_step::begin;
    return object;
}

code_job::code_job(realm& realm, code_order order)
    : realm_(realm), order_(std::move(order)),
      work_([this] { result_.emplace(carry_out(realm_, order_, *this)); }),
      stack_(realm, stack_bytes) {}

code_job::~code_job() {
    const realm::compile_state outer = realm_.exchange_compile_state(compiling_);
    stack_.abandon();
    (void)realm_.exchange_compile_state(outer);
}

native_stack::progress code_job::resume() {
    left_ = work_of_a_turn;
    const realm::compile_state outer = realm_.exchange_compile_state(compiling_);
    native_stack::progress result = native_stack::progress::ended;
    try {
        result = stack_.resume(work_);
    } catch (...) {
        result_.emplace(error_of_exception("compiling"));
    }
    compiling_ = realm_.exchange_compile_state(outer);
    return result;
}

/// On the worker's stack: its turn may be over.
std::optional<error> code_job::spend(std::uint64_t work) {
    spent_ += work;
    if (left_ > work) {
        left_ -= work;
        return std::nullopt;
    }
    if (stack_.give_way()) return std::nullopt;
    return error::cancelled(cancel_reason::sibling);
}

} // namespace heddle::lang
