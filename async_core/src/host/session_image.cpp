#include <heddle/host/session_image.hpp>

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/state_search.hpp>

#include <utility>

namespace heddle::host {

/// What sessions could change for one another.
std::string session_image::obstacle_of(session& loaded) {
    lang::heap& memory = loaded.memory();
    memory.collect_cycles();
    lang::state_search search;
    loaded.realm().visit_values(search);
    const operator_source* operators = loaded.operators();
    if (operators && !operators->visit_shared(search))
        return "tasks and tools of a kind that sessions cannot share";
    if (!search.found().empty()) return search.found();
    if (memory.live_cells() != 0 || loaded.realm().permits_held != 0)
        return "a variable that is captured and assigned, or a permit, that nothing global holds";
    return {};
}

session_image::session_image(std::unique_ptr<session> loaded, session_program program)
    : engine_(loaded->engine()), base_(std::move(loaded)), obstacle_(obstacle_of(*base_)) {
    if (is_shareable()) {
        base_->realm().freeze();
    } else {
        base_.reset();
        program_ = std::move(program);
    }
}

session_image::~session_image() = default;

std::shared_ptr<session_image> session_image::make(std::unique_ptr<session> loaded,
                                                   session_program program) {
    return std::shared_ptr<session_image>(new session_image(std::move(loaded), std::move(program)));
}

coro::task<result<std::shared_ptr<session_image>>> session_image::load(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives it
    engine& engine, std::string name, std::string text, run_options bounds, std::string* rendered) {
    auto fresh = engine.new_session();
    if (!fresh) co_return std::move(fresh).error();
    std::unique_ptr<session> loaded = *std::move(fresh);
    result<lang::value> ended = co_await loaded->evaluate(name, text, bounds);
    if (!ended) {
        if (rendered) *rendered = loaded->render(ended.error());
        co_return std::move(ended).error();
    }
    ended = lang::value();
    try {
        session_program program{std::move(name), std::move(text)};
        co_return make(std::move(loaded), std::move(program));
    } catch (...) {
        co_return error_of_exception("making an image of a session");
    }
}

result<std::unique_ptr<session>> session_image::new_session() {
    if (!is_shareable()) {
        return error(heddle::errc::invalid_argument,
                     "sessions cannot share the program: it leaves " + obstacle_ + " behind")
            .with_hint("open_session() loads it again for each");
    }
    try {
        auto object = std::make_unique<session>(engine_, shared_from_this());
        if (const auto& operators = engine_.parts().operators)
            object->set_operators(operators(*object));
        return object;
    } catch (...) {
        return error_of_exception("making a session");
    }
}

coro::task<result<std::unique_ptr<session>>> session_image::open_session(run_options bounds) {
    const auto self = shared_from_this();
    if (is_shareable() || program_.name.empty()) co_return new_session();
    auto fresh = engine_.new_session();
    if (!fresh) co_return fresh;
    result<lang::value> ended = co_await (*fresh)->evaluate(program_.name, program_.text, bounds);
    if (!ended) co_return std::move(ended).error();
    co_return fresh;
}

} // namespace heddle::host
