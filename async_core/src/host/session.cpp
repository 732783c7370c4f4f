#include <heddle/host/session.hpp>
#include <heddle/host/session_image.hpp>

#include "import_table.hpp"
#include "run_driver.hpp"
#include "source_keeper.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/base/exceptions.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/prelude.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/reader.hpp>

#include <algorithm>
#include <new>

namespace heddle::host {

/// The names of the host as the language sees them.
class session::names final : public lang::host_names {
public:
    explicit names(session& session) : session_(session) {}

    const lang::builtin* find_effect(std::string_view name) const override {
        const effect_handler* handler = session_.engine_.find_effect(name);
        return handler ? &handler->row() : nullptr;
    }
    std::optional<lang::operator_info> find_operator(lang::heap& memory,
                                                     std::string_view name) const override {
        if (!session_.operators_) return std::nullopt;
        return session_.operators_->find(memory, name);
    }
    std::optional<lang::operator_info> describe_callable(
        const lang::host_object& callable) const override {
        if (!session_.operators_) return std::nullopt;
        return session_.operators_->describe(callable);
    }
    std::optional<lang::operator_doc> describe_operator(std::string_view name) const override {
        if (!session_.operators_) return std::nullopt;
        return session_.operators_->document(name);
    }
    bool is_reserved_key(std::string_view name) const override {
        return session_.operators_ && session_.operators_->is_reserved_key(name);
    }
    double now() const override {
        if (session_.driver_) return session_.driver_->now();
        return std::chrono::duration<double>(session_.engine_.loop().now().time_since_epoch())
            .count();
    }
    double begin_time() const override {
        return session_.driver_ ? session_.driver_->begin_time() : now();
    }
    void collect_names(std::vector<std::string>& found) const override {
        for (const auto& effect : session_.engine_.effects()) {
            if (effect->row().name.front() != '%') found.emplace_back(effect->row().name);
        }
        if (!session_.operators_) return;
        std::vector<std::string> operators;
        session_.operators_->collect_names(operators);
        for (std::string& name : operators) {
            // A tool may have the name of a builtin.
            if (!session_.engine_.find_effect(name)) found.push_back(std::move(name));
        }
    }

private:
    session& session_;
};

session::session(host::engine& engine)
    : engine_(engine), names_(std::make_unique<names>(*this)),
      realm_(std::make_unique<lang::realm>(*names_)),
      sources_(std::make_unique<source_keeper>(realm_->sources(), realm_->memory())),
      imports_(std::make_shared<import_table>()) {}

session::session(host::engine& engine, std::shared_ptr<const session_image> image)
    : engine_(engine), image_(std::move(image)), names_(std::make_unique<names>(*this)),
      realm_(std::make_unique<lang::realm>(image_->base_->realm(), *names_)),
      sources_(std::make_unique<source_keeper>(realm_->sources(), realm_->memory())),
      imports_(std::make_shared<import_table>()) {}

session::~session() = default;

lang::map_progress session::outermost_maps() const {
    return driver_ ? driver_->outermost_maps() : lang::map_progress();
}

const operator_source* session::base_operators() const noexcept {
    return image_ ? image_->base_->operators() : nullptr;
}

result<std::unique_ptr<session>> engine::new_session() {
    try {
        if (!prelude_) {
            auto base = std::make_unique<session>(*this);
            HEDDLE_CHECK(lang::load_prelude(base->realm()));
            prelude_ = session_image::make(std::move(base));
        }
        return prelude_->new_session();
    } catch (...) {
        return error_of_exception("making a session");
    }
}

void session::set_operators(std::unique_ptr<operator_source> operators) {
    operators_ = std::move(operators);
}

coro::task<result<lang::value>> session::evaluate(std::string name, std::string text,
                                                  run_options options) {
    std::optional<result<lang::value>> ended;
    try {
        const std::uint32_t position = realm_->sources().add(std::move(name), text);
        auto forms = lang::read_all(memory(), text, position);
        text = std::string();
        lang::function_ref code;
        if (forms) {
            result<lang::value> ran = co_await run_program(*std::move(forms), options, code);
            ended.emplace(std::move(ran));
        } else {
            ended.emplace(std::move(forms).error());
        }
        sources_->evaluated(position, std::move(code), !*ended);
        while (sources_->sweep_in_turns()) {
            try {
                co_await coro::yield_now(engine_.loop());
            } catch (const std::bad_alloc&) { // it goes on at once
            }
        }
    } catch (...) {
        ended.emplace(error_of_exception("evaluating"));
    }
    co_return *std::move(ended);
}

coro::task<result<lang::value>> session::evaluate_forms(std::vector<lang::datum> forms,
                                                        run_options options) {
    std::optional<result<lang::value>> ended;
    try {
        lang::function_ref code;
        result<lang::value> ran = co_await run_program(std::move(forms), options, code);
        ended.emplace(std::move(ran));
    } catch (...) {
        ended.emplace(error_of_exception("evaluating"));
    }
    co_return *std::move(ended);
}

coro::task<result<lang::value>> session::run_program(std::vector<lang::datum> forms,
                                                     run_options options,
                                                     lang::function_ref& compiled) {
    lang::scope_ref scope = lang::with_concurrency(*realm_, {}, options.concurrency);
    auto main = lang::start_program(*realm_, std::move(forms), std::move(scope), compiled);
    result<lang::value> ended = co_await drive(std::move(main), options);
    has_run_code_ = has_run_code_ || compiled;
    co_return ended;
}

coro::task<result<lang::value>> session::call(lang::value callee,
                                              std::vector<lang::value> arguments,
                                              run_options options) {
    std::optional<result<lang::value>> ended;
    try {
        lang::scope_ref scope = lang::with_concurrency(*realm_, {}, options.concurrency);
        auto fiber = lang::start_fiber(*realm_, std::move(callee), arguments, std::move(scope));
        arguments.clear();
        has_run_code_ = true;
        result<lang::value> ran = co_await drive(std::move(fiber), options);
        ended.emplace(std::move(ran));
    } catch (...) {
        ended.emplace(error_of_exception("a call"));
    }
    co_return *std::move(ended);
}

/// What holds during an evaluation, taken back however that ends.
class session::evaluation {
public:
    evaluation(session& session, std::size_t memory_limit) : session_(session) {
        session_.imports_ = std::make_shared<import_table>();
        session_.running_ = true;
        const std::size_t held = session_.memory().used();
        session_.memory().set_held(held);
        session_.memory().set_limit(memory_limit > SIZE_MAX - held ? SIZE_MAX
                                                                   : held + memory_limit);
    }
    evaluation(const evaluation&) = delete;
    evaluation& operator=(const evaluation&) = delete;
    ~evaluation() {
        session_.driver_ = nullptr;
        session_.engine_.loop().settle();
        session_.memory().set_limit(SIZE_MAX);
        session_.memory().set_held(0);
        session_.imports_->clear(); // its values may be big
        session_.running_ = false;
    }

private:
    session& session_;
};

coro::task<result<lang::value>> session::drive(std::unique_ptr<lang::fiber> main,
                                               run_options options) {
    if (running_) {
        co_return error(heddle::errc::invalid_argument,
                        "this session is already evaluating a "
                        "program")
            .with_hint("await that evaluation, or use another session");
    }
    const evaluation under_way(*this, options.memory_limit);
    run_driver driver(*this, options);
    driver_ = &driver;
    result<lang::value> ended = co_await driver.run(std::move(main));
    co_return ended;
}

coro::task<result<lang::value>> session::call_within(lang::value callee,
                                                     std::vector<lang::value> arguments,
                                                     lang::scope_ref scope,
                                                     coro::call_context context, bool in_sandbox) {
    if (!driver_) {
        co_return error(heddle::errc::invalid_argument, "no evaluation is in progress");
    }
    result<lang::value> ended = co_await driver_->call_within(
        std::move(callee), std::move(arguments), std::move(scope), context, in_sandbox);
    co_return ended;
}

bool session::is_durable() const noexcept { return driver_ && driver_->is_durable(); }

std::optional<lang::value> session::global(std::string_view name) {
    const auto index = realm_->find_global(name);
    if (!index) return std::nullopt;
    return realm_->global(*index);
}

void session::define(std::string_view name, lang::value content) {
    realm_->define(name, std::move(content));
}

std::optional<std::vector<std::string>> session::parameters_of(const lang::value& callee) {
    if (!callee.is(lang::kind::closure)) return std::nullopt;
    return lang::closure_of(callee)->code->parameter_names;
}

std::string session::render(const error& failure, bool colour) {
    diagnostic_style style;
    style.colour = colour;
    std::string text =
        render_diagnostic(lang::error_kind_name(failure), failure, realm_->sources(), style);
    const auto* script = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    if (!script || !script->data.is(lang::kind::list) || script->data.length() == 0) return text;
    // What (error "…" data…) was given beside the message.
    lang::print_options options;
    options.max_bytes = 500;
    const auto data = lang::list_items(script->data);
    text += "data:";
    constexpr std::size_t max_shown = 10;
    for (std::size_t i = 0; i < std::min(data.size(), max_shown); ++i)
        text += " " + utf8::printable_line(lang::print_value(data[i], options));
    return text + (data.size() > max_shown ? " …\n" : "\n");
}

} // namespace heddle::host
