#include <heddle/lang/reader.hpp>

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/reader/lexer.hpp"
#include "lang/text/number_text.hpp"
#include "lang/text/text_builder.hpp"
#include "lang/value/value_stack.hpp"

#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace heddle::lang {

namespace {

enum class amount : std::uint8_t { one, any };

/// The first line of a text for a message, cut to a length that fits.
[[nodiscard]] std::string first_line(std::string_view text) {
    constexpr std::size_t shown = 40;
    text = utf8::prefix(text, 2 * shown);
    return utf8::shortened(text.substr(0, text.find_first_of("\r\n")), shown);
}

[[nodiscard]] char closing_of(char open) noexcept { return open == '(' ? ')' : ']'; }

/// What is open around the place that is being read: a list, or a mark that waits for the one
/// expression it applies to.
struct open_frame {
    enum class what : std::uint8_t { list, prefix, drop };
    what kind = what::list;
    std::size_t begin = 0;
    std::size_t end = 0;        ///< of the bracket or mark
    std::size_t first_item = 0; ///< lists: where its elements begin on the stack of items
};

/// Reads with stacks of its own, so that the depth of the source never becomes depth of calls.
class reading {
public:
    reading(heap& memory, std::string_view text, std::uint32_t position,
            const read_options& options, amount wanted)
        : memory_(memory), text_(text), options_(options),
          work_(options.work ? *options.work : free_),
          lexer_(text, position, work_, options.first_line), wanted_(wanted),
          keep_places_(position != 0), items_(memory) {}

    [[nodiscard]] result<std::vector<datum>> as_forms();
    [[nodiscard]] result<value> as_list();

private:
    [[nodiscard]] std::optional<error> read();
    [[nodiscard]] std::optional<error> take(const token& t);
    [[nodiscard]] std::optional<error> open(const token& t, open_frame::what kind);
    [[nodiscard]] std::optional<error> close(const token& t);
    [[nodiscard]] std::optional<error> take_string(const token& t);
    [[nodiscard]] std::optional<error> take_atom(const token& t);
    [[nodiscard]] std::optional<error> begin_expression(const token& t) const;
    [[nodiscard]] std::optional<error> check_memory() const;
    [[nodiscard]] error bad_number(const token& t, number_problem problem) const;
    [[nodiscard]] error end_inside_frame() const;
    void complete(value content, source_span span);
    [[nodiscard]] std::optional<value> make_list_of_items(std::size_t first, source_span whole);
    [[nodiscard]] std::optional<value> list_of_items(std::size_t first);

    heap& memory_;
    std::string_view text_;
    const read_options& options_;
    free_work free_;
    work_meter& work_;
    lexer lexer_;
    amount wanted_;
    bool keep_places_;
    std::vector<open_frame> frames_;
    value_stack items_;
    std::deque<source_span> spans_; ///< of the items
};

std::optional<error> reading::read() {
    if (auto failure = lexer_.check_text()) return *std::move(failure);
    for (std::size_t count = 1;; ++count) {
        const token t = lexer_.next();
        if (!work_.spend(4)) return lexer::stopped();
        if (t.kind == token_kind::failure) return lexer_.take_failure();
        if (t.kind == token_kind::end) break;
        if (auto failure = take(t)) return *std::move(failure);
        if (count % 4096 != 0) continue;
        if (auto failure = check_memory()) return *std::move(failure);
    }
    if (!frames_.empty()) return end_inside_frame();
    if (wanted_ == amount::one && items_.size() == 0) {
        return lexer_.syntax_error(text_.size(), text_.size(),
                                   "empty input: one expression is required");
    }
    return std::nullopt;
}

result<std::vector<datum>> reading::as_forms() {
    if (auto failure = read()) return *std::move(failure);
    std::vector<datum> forms;
    forms.reserve(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i)
        forms.push_back({std::move(items_[i]), spans_[i]});
    return forms;
}

result<value> reading::as_list() {
    if (auto failure = read()) return *std::move(failure);
    if (items_.size() > value::max_length)
        return error(errc::limit, "a list has too many elements");
    while (!spans_.empty()) {
        spans_.pop_back();
        if (spans_.size() % 1024 == 0 && !work_.spend(256)) return lexer::stopped();
    }
    auto list = list_of_items(0);
    if (!list) return lexer::stopped();
    return *std::move(list);
}

std::optional<error> reading::take(const token& t) {
    switch (t.kind) {
    case token_kind::open: return open(t, open_frame::what::list);
    case token_kind::prefix: return open(t, open_frame::what::prefix);
    case token_kind::drop: return open(t, open_frame::what::drop);
    case token_kind::close: return close(t);
    case token_kind::string: return take_string(t);
    default: return take_atom(t);
    }
}

std::optional<error> reading::check_memory() const {
    const std::size_t scratch =
        spans_.size() * sizeof(source_span) + frames_.capacity() * sizeof(open_frame);
    if (memory_.can_allocate(scratch)) return std::nullopt;
    return error(errc::limit, "reading needs more than the memory limit of " +
                                  std::to_string(memory_.limit_asked()) + " bytes");
}

/// Refuses a second expression where one is wanted.
std::optional<error> reading::begin_expression(const token& t) const {
    if (wanted_ == amount::any || !frames_.empty() || items_.size() == 0) return std::nullopt;
    return lexer_.syntax_error(t.begin, t.end,
                               "trailing content after the expression, at " +
                                   lexer_.where(t.begin) + ": " + first_line(text_.substr(t.begin)),
                               "one expression is expected here: wrap several in (progn …)");
}

std::optional<error> reading::open(const token& t, open_frame::what kind) {
    if (kind != open_frame::what::drop) {
        if (auto failure = begin_expression(t)) return failure;
    }
    if (frames_.size() >= options_.max_depth) {
        return lexer_.syntax_error(t.begin, t.end,
                                   "expressions are nested deeper than " +
                                       std::to_string(options_.max_depth) + " levels, at " +
                                       lexer_.where(t.begin),
                                   "look for brackets that are never closed, or raise the limit");
    }
    frames_.push_back({kind, t.begin, t.end, items_.size()});
    return std::nullopt;
}

std::optional<error> reading::close(const token& t) {
    const char found = text_[t.begin];
    if (frames_.empty()) {
        return lexer_.syntax_error(
            t.begin, t.end,
            std::string("unbalanced ") + found + ": no list is open at " + lexer_.where(t.begin),
            "remove it, or look for a list that is closed too early");
    }
    const open_frame& top = frames_.back();
    if (top.kind != open_frame::what::list) {
        const std::string mark(text_.substr(top.begin, top.end - top.begin));
        return lexer_.syntax_error(top.begin, top.end,
                                   "expected an expression after " + mark + " but found " + found);
    }
    const char expected = closing_of(text_[top.begin]);
    if (found != expected) {
        return lexer_.syntax_error(t.begin, t.end,
                                   std::string("expected ") + expected + " but found " + found +
                                       ": the " + text_[top.begin] + " at " +
                                       lexer_.where(top.begin) + " is open",
                                   std::string("close it with ") + expected);
    }
    const source_span whole = lexer_.span(top.begin, t.end);
    if (items_.size() - top.first_item > value::max_length) {
        return error(errc::limit, "a list has too many elements").with_span(whole);
    }
    std::optional<value> list = make_list_of_items(top.first_item, whole);
    if (!list) return lexer::stopped();
    frames_.pop_back();
    complete(*std::move(list), whole);
    return std::nullopt;
}

/// Moves the items from `first` on into a list and leaves the stack without them. Nothing: stop.
std::optional<value> reading::make_list_of_items(std::size_t first, source_span whole) {
    const std::size_t count = items_.size() - first;
    if (count == 0) return value::empty_list();
    std::unique_ptr<source_span[]> elements;
    if (keep_places_) elements = std::make_unique_for_overwrite<source_span[]>(count);
    for (std::size_t left = count; left != 0; --left) {
        if (elements) elements[left - 1] = spans_.back();
        spans_.pop_back();
        if (left % 1024 == 0 && !work_.spend(256)) return std::nullopt;
    }
    auto list = list_of_items(first);
    if (list && elements) {
        auto* storage = static_cast<list_object*>(list->target());
        storage->places = new list_places{whole, count, std::move(elements)};
        memory_.charge(list_places::bytes_for(count));
    }
    return list;
}

/// As above, without places; and the stack of places stays as it is. From the end, so that the
/// stack frees its memory while the list takes it.
std::optional<value> reading::list_of_items(std::size_t first) {
    const std::size_t count = items_.size() - first;
    if (count == 0) return value::empty_list();
    value list = make_list_with_room(memory_, {count, count});
    auto* storage = static_cast<list_object*>(list.target());
    for (std::size_t left = count; left != 0; --left) {
        new (storage->items() + --storage->begin) value(items_.pop());
        if (left % 1024 == 0 && !work_.spend(512)) return std::nullopt;
    }
    return std::move(list).window(0, count);
}

/// An expression is complete: marks that waited for it take it, then the list around it.
void reading::complete(value content, source_span span) {
    while (!frames_.empty() && frames_.back().kind != open_frame::what::list) {
        const open_frame mark = frames_.back();
        frames_.pop_back();
        if (mark.kind == open_frame::what::drop) return;
        std::string_view head = "quote";
        if (text_[mark.begin] == '`') head = "quasiquote";
        if (text_[mark.begin] == ',')
            head = mark.end - mark.begin == 1 ? "unquote" : "unquote-splicing";
        items_.push(memory_.symbol(head));
        spans_.push_back(lexer_.span(mark.begin, mark.end));
        items_.push(std::move(content));
        spans_.push_back(span);
        if (span.known()) span.begin = spans_[spans_.size() - 2].begin;
        content = *make_list_of_items(items_.size() - 2, span); // two are not long
    }
    items_.push(std::move(content));
    spans_.push_back(span);
}

std::optional<error> reading::take_string(const token& t) {
    if (auto failure = begin_expression(t)) return failure;
    const std::string& content = lexer_.string_content();
    if (content.size() >= value::max_length || !memory_.can_allocate(content.size())) {
        return error(errc::limit, "a string of " + std::to_string(content.size()) +
                                      " bytes is over the memory limit")
            .with_span(lexer_.span(t.begin, t.begin + 1));
    }
    std::optional<value> result =
        make_long_string(memory_, content, work_); // check_text looked at it
    if (!result) return lexer::stopped();
    complete(*std::move(result), lexer_.span(t.begin, t.end));
    return std::nullopt;
}

std::optional<error> reading::take_atom(const token& t) {
    if (auto failure = begin_expression(t)) return failure;
    const std::string_view word = lexer_.text(t);
    const source_span span = lexer_.span(t.begin, t.end);
    if (const parsed_number number = parse_number(word); !std::get_if<number_problem>(&number)) {
        const auto* integer = std::get_if<std::int64_t>(&number);
        complete(integer ? value::integer(*integer) : value::real(std::get<double>(number)), span);
    } else if (starts_like_number(word)) {
        return bad_number(t, std::get<number_problem>(number));
    } else if (word == "nil") {
        complete({}, span);
    } else if (word == "true" || word == "#t") {
        complete(value::boolean(true), span);
    } else if (word == "false" || word == "#f") {
        complete(value::boolean(false), span);
    } else {
        complete(memory_.symbol(word), span);
    }
    return std::nullopt;
}

error reading::bad_number(const token& t, number_problem problem) const {
    std::string message = "bad number " + first_line(lexer_.text(t));
    std::string hint;
    switch (problem) {
    case number_problem::not_a_number:
        hint = "numbers are written 12, -3, 1.5, .5 or 2e3; a symbol does not begin with a digit";
        break;
    case number_problem::integer_out_of_range:
        message += ": an integer must fit 64 bits";
        hint = "write it as a float (with .0), or as a string";
        break;
    case number_problem::real_out_of_range: message += ": it is too large for a float"; break;
    }
    return lexer_.syntax_error(t.begin, t.end, std::move(message), std::move(hint));
}

error reading::end_inside_frame() const {
    const open_frame& top = frames_.back();
    const std::string mark(text_.substr(top.begin, top.end - top.begin));
    if (top.kind != open_frame::what::list) {
        return lexer_.incomplete(top.begin, top.end,
                                 "expected an expression after " + mark + " but the input ends");
    }
    // The brackets to add, innermost first.
    std::string missing;
    std::size_t lists = 0;
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
        if (frame->kind != open_frame::what::list) continue;
        if (++lists <= 20) missing += closing_of(text_[frame->begin]);
    }
    std::string message = "unbalanced " + mark + ": the list opened at " + lexer_.where(top.begin) +
                          " is never closed";
    if (lists > 1) message += " (" + std::to_string(lists) + " lists are open)";
    std::string hint = lists > 20 ? "look for a bracket that is missing" : "add " + missing;
    return lexer_.incomplete(top.begin, top.end, std::move(message), std::move(hint));
}

} // namespace

bool needs_more_input(const error& failure) noexcept {
    return dynamic_cast<const incomplete_input*>(failure.info().payload.get()) != nullptr;
}

result<std::vector<datum>> read_all(heap& memory, std::string_view text, std::uint32_t position,
                                    const read_options& options) {
    return reading(memory, text, position, options, amount::any).as_forms();
}

result<value> read_list(heap& memory, std::string_view text, std::uint32_t position,
                        const read_options& options) {
    return reading(memory, text, position, options, amount::any).as_list();
}

result<datum> read_one(heap& memory, std::string_view text, std::uint32_t position,
                       const read_options& options) {
    auto read = reading(memory, text, position, options, amount::one).as_forms();
    if (!read) return std::move(read).error();
    return std::move(read->front());
}

} // namespace heddle::lang
