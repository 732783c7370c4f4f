#include "program_handle.hpp"

#include "host_call.hpp"
#include "plain_error.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/run_on.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/setup/input_files.hpp>

#include <filesystem>
#include <future>
#include <system_error>

namespace heddle::embed {

namespace {

error stopped() {
    return plain_error(error(runtime_errc::stopped, "the runtime is shutting down"));
}

error took_too_long(const program_version& version, std::chrono::nanoseconds time) {
    const auto number = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    return plain_error(error(lang::errc::timeout, "\"" + version.name() + "\" was not loaded in " +
                                                      std::to_string(number) + " ms")
                           .with_hint("load_options::reload_timeout is the bound"));
}

/// Loads a program in a shard, whose thread this is.
coro::task<result<void>> load_in(shard* home, std::shared_ptr<const program_version> version,
                                 coro::call_context context) {
    const std::shared_ptr<shard_program> program = home->program(version);
    result<void> ended = co_await program->load(version, context);
    co_return ended;
}

/// As load_in, in any shard.
coro::task<result<void>> load_there(shard* there, std::shared_ptr<const program_version> version,
                                    coro::call_context context) {
    auto work = [there, version = std::move(version)](coro::call_context inside) {
        return load_in(there, version, inside);
    };
    result<void> ended = co_await coro::run_on(there->loop().address(), context, std::move(work));
    co_return ended;
}

/// What a load begins with.
enum class mistakes : std::uint8_t { looked_for, known_to_be_absent };

/// Loads a program in the first shard, whose thread this is, and then in all others at the same
/// time: they find what it has imported. No call has to wait for that.
coro::task<result<void>> load_everywhere(std::shared_ptr<runtime_core> core,
                                         std::shared_ptr<const program_version> version,
                                         mistakes how, coro::call_context context) {
    result<void> ended;
    if (how == mistakes::looked_for) ended = core->first().program(version)->check(*version);
    if (ended) ended = co_await load_in(&core->first(), version, context);
    if (!ended) co_return ended;
    coro::nursery others(context);
    for (const auto& each : core->shards()) {
        if (each.get() == &core->first()) continue;
        others.start([&] { return load_there(each.get(), version, others.context()); });
    }
    ended = co_await others.join();
    co_return ended;
}

coro::task<void> load_once(std::shared_ptr<runtime_core> core,
                           std::shared_ptr<const program_version> version, mistakes how,
                           std::function<void(result<void>)> ended) {
    const coro::call_context context{&core->first().loop(), &core->first().loads(), {}};
    result<void> loaded =
        co_await load_everywhere(std::move(core), std::move(version), how, context);
    ended(std::move(loaded));
}

/// Posts it to the first shard, where `ended` is called.
void start_load(const std::shared_ptr<runtime_core>& core,
                std::shared_ptr<const program_version> version, mistakes how,
                std::function<void(result<void>)> ended) {
    auto place = core->begin_load();
    if (!place) return ended(stopped());
    core->first().post([core, place = std::move(place), version = std::move(version), how,
                        ended = std::move(ended)] {
        auto done = [place, ended](std::exception_ptr thrown) {
            try {
                if (thrown) std::rethrow_exception(thrown);
            } catch (...) {
                ended(plain_error(error_of_exception("loading a program")));
            }
        };
        coro::spawn(core->first().loop(), load_once(core, version, how, ended), std::move(done));
    });
}

/// Checks it now, and loads it when the threads come to it: who asks must not wait for them.
result<void> load_later(const std::shared_ptr<runtime_core>& core, shard& here,
                        const std::shared_ptr<const program_version>& version) {
    HEDDLE_CHECK(here.program(version)->check(*version));
    start_load(core, version, mistakes::known_to_be_absent, [core](const result<void>& how) {
        if (how || core->is_stopped()) return;
        core->log().write(log_level::error, "load",
                          "a program cannot be loaded: " + to_text(how.error()));
    });
    return {};
}

} // namespace

result<std::string> read_program(const std::string& file) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(file, failed))
        return plain_error(error(errc::not_found, "there is no file \"" + file + "\""));
    // Not the bare name: "-" would be standard input.
    auto text = setup::read_input_file(std::filesystem::absolute(file, failed).string());
    if (!text) return plain_error(std::move(text).error());
    if (!utf8::is_valid(*text))
        return plain_error(error(errc::invalid_argument, "\"" + file + "\" is not UTF-8"));
    return text;
}

result<void> try_program(const std::shared_ptr<runtime_core>& core,
                         std::shared_ptr<const program_version> version) {
    if (core->is_stopped()) return stopped();
    shard& home = core->first();
    if (home.is_on_host()) {
        home.check_thread();
        return load_later(core, home, version);
    }
    for (const auto& each : core->shards()) { // by a handler or a function of the host
        if (each->is_here()) return load_later(core, *each, version);
    }
    // Shared: the shard may still be in set_value() when this thread goes on.
    auto ended = std::make_shared<std::promise<result<void>>>();
    std::future<result<void>> waiting = ended->get_future();
    start_load(core, std::move(version), mistakes::looked_for,
               [ended = std::move(ended)](result<void> how) { ended->set_value(std::move(how)); });
    try {
        return waiting.get();
    } catch (const std::future_error&) { // the load was dropped
        return out_of_memory();
    }
}

program_handle::program_handle(std::shared_ptr<runtime_core> core,
                               std::shared_ptr<const program_version> first,
                               imported_files::time_type noted, load_options options)
    : core_(std::move(core)), options_(options), name_(first->name()), file_(first->file()),
      version_(std::move(first)), imports_(version_->imports()), noted_(noted),
      next_look_(deadline_after(coro::clock::now(), options_.reload_interval)) {}

std::shared_ptr<const program_version> program_handle::latest() const {
    const std::lock_guard held(mutex_);
    return version_;
}

std::shared_ptr<const program_version> program_handle::current() {
    if (options_.reload && !file_.empty() && !core_->is_stopped()) look();
    return latest();
}

/// Lets the first shard load a new version, and calls go on with the one before. One that is being
/// loaded meanwhile is not awaited: the next look finds the newer one.
void program_handle::look() {
    const auto now = coro::clock::now();
    const std::lock_guard held(mutex_);
    if (!next_look_.passed(now)) return;
    next_look_ = deadline_after(now, options_.reload_interval);
    if (auto begun = reloading_.lock()) {
        if (!has_read_ || !is_changed()) return;
        core_->first().post([begun = std::move(begun)] { begun->supersede(); });
        return;
    }
    if (!is_changed()) return;
    // While it is held the shard is there: the runtime waits for loads.
    auto place = core_->begin_load();
    if (!place) return;
    auto begun = std::make_shared<program_reload>();
    has_read_ = false;
    reloading_ = begun;
    core_->first().post([self = shared_from_this(), begun = std::move(begun),
                         place = std::move(place)] { self->start_reload(begun, place); });
}

/// A file that is missing is about to be replaced.
bool program_handle::is_changed() const {
    std::error_code failed;
    const auto written = std::filesystem::last_write_time(file_, failed);
    return !failed && (written != noted_ || imports_->changed());
}

void program_handle::start_reload(const std::shared_ptr<program_reload>& begun,
                                  std::shared_ptr<const void> place) {
    auto done = [self = shared_from_this(), place = std::move(place)](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (...) {
            self->log_failure(error_of_exception("loading a program"));
            self->end_reload(nullptr);
        }
    };
    coro::spawn(core_->first().loop(), reload(shared_from_this(), begun), std::move(done));
}

coro::task<void> program_handle::reload(std::shared_ptr<program_handle> self,
                                        std::shared_ptr<program_reload> begun) {
    shard& home = self->core_->first();
    const auto read = self->read_again();
    if (!read) {
        self->log_failure(read.error());
        self->end_reload(nullptr);
        co_return;
    }
    program_reload::source stop(*begun, home.loads());
    const coro::deadline until = deadline_after(home.loop().now(), self->options_.reload_timeout);
    const coro::call_context context{&home.loop(), &stop.get(), until};
    const result<void> loaded =
        co_await load_everywhere(self->core_, *read, mistakes::looked_for, context);
    if (!loaded && !begun->is_superseded()) {
        // A deadline that passes while nothing is evaluated, as during a read, cancels.
        const bool is_ended = loaded.error().code() == make_error_code(lang::errc::timeout) ||
                              loaded.error().cancelled_because() == cancel_reason::deadline;
        const bool is_late = is_ended && until.passed(home.loop().now());
        self->log_failure(is_late ? took_too_long(**read, self->options_.reload_timeout)
                                  : loaded.error());
    }
    self->end_reload(loaded ? *read : nullptr);
}

result<std::shared_ptr<const program_version>> program_handle::read_again() {
    // First: what is written while the text is read has another time.
    const auto noted = imported_files::time_to_note(file_);
    result<std::string> text = read_program(file_);
    std::shared_ptr<const program_version> version;
    if (text) {
        version = std::make_shared<const program_version>(name_, file_, *std::move(text),
                                                          core_->functions());
    }
    const std::lock_guard held(mutex_);
    noted_ = noted;
    has_read_ = true;
    if (!version) return std::move(text).error();
    // Also of a version that cannot be used: what it imports may be mended.
    imports_ = version->imports();
    return version;
}

void program_handle::log_failure(const error& failure) const {
    if (core_->is_stopped()) return;
    core_->log().write(log_level::error, "reload",
                       "a program has changed and cannot be used: " + to_text(failure));
}

/// `loaded`: null if the version before remains.
void program_handle::end_reload(std::shared_ptr<const program_version> loaded) {
    const std::lock_guard held(mutex_);
    reloading_.reset();
    if (loaded) version_ = std::move(loaded);
}

} // namespace heddle::embed
