#include "program_handle.hpp"

#include "plain_error.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/coro/spawn.hpp>

#include <fstream>
#include <future>
#include <iterator>
#include <system_error>

namespace heddle::embed {

namespace {

error stopped() {
    return plain_error(error(runtime_errc::stopped, "the runtime is shutting down"));
}

/// Checks and loads a program in the first shard.
coro::task<void> load_in(shard* home, std::shared_ptr<const program_version> version,
                         std::function<void(result<void>)> ended) {
    const std::shared_ptr<shard_program> program = home->program(version);
    result<void> checked = program->check(*version);
    if (checked) {
        const coro::call_context context{&home->loop(), &home->loads(), {}};
        checked = co_await program->load(version, context);
    }
    ended(std::move(checked));
}

/// Posts it to the first shard, where `ended` is called.
void start_load(const std::shared_ptr<runtime_core>& core,
                std::shared_ptr<const program_version> version,
                std::function<void(result<void>)> ended) {
    if (!core->begin_load()) return ended(stopped());
    core->first().post([core, version = std::move(version), ended = std::move(ended)] {
        shard& home = core->first();
        auto done = [core, ended](std::exception_ptr thrown) {
            try {
                if (thrown) std::rethrow_exception(thrown);
            } catch (...) {
                ended(plain_error(error_of_exception("loading a program")));
            }
            core->forget();
        };
        coro::spawn(home.loop(), load_in(&home, version, ended), std::move(done));
    });
}

} // namespace

result<std::string> read_program(const std::string& file) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(file, failed))
        return plain_error(error(errc::not_found, "there is no file \"" + file + "\""));
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in) return plain_error(error(errc::io_error, "\"" + file + "\" cannot be read"));
    if (!utf8::is_valid(text))
        return plain_error(error(errc::invalid_argument, "\"" + file + "\" is not UTF-8"));
    return text;
}

result<void> try_program(const std::shared_ptr<runtime_core>& core,
                         std::shared_ptr<const program_version> version) {
    if (core->is_stopped()) return stopped();
    shard& home = core->first();
    if (home.is_on_host() || home.is_here()) {
        // Nobody runs the loop meanwhile: the first call loads it.
        if (home.is_on_host()) home.check_thread();
        return home.program(version)->check(*version);
    }
    // Shared: the shard may still be in set_value() when this thread goes on.
    auto ended = std::make_shared<std::promise<result<void>>>();
    std::future<result<void>> waiting = ended->get_future();
    start_load(core, std::move(version),
               [ended](result<void> how) { ended->set_value(std::move(how)); });
    return waiting.get();
}

program_handle::program_handle(std::shared_ptr<runtime_core> core,
                               std::shared_ptr<const program_version> first, load_options options)
    : core_(std::move(core)), options_(options), version_(std::move(first)),
      imports_(version_->imports()),
      next_look_(std::chrono::steady_clock::now() + options_.reload_interval) {
    std::error_code failed;
    read_at_ = std::filesystem::last_write_time(version_->file(), failed);
}

std::shared_ptr<const program_version> program_handle::latest() const {
    const std::lock_guard held(mutex_);
    return version_;
}

std::shared_ptr<const program_version> program_handle::current() {
    if (!options_.reload || version_->file().empty()) return latest();
    if (is_changed()) read_again();
    return latest();
}

bool program_handle::is_changed() {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard held(mutex_);
    if (is_reading_ || now < next_look_) return false;
    next_look_ = now + options_.reload_interval;
    std::error_code failed;
    const auto written = std::filesystem::last_write_time(version_->file(), failed);
    if (failed || (written == read_at_ && !imports_->changed())) return false;
    read_at_ = written;
    is_reading_ = true;
    return true;
}

/// Calls go on with the version before, until the first shard has loaded the new one.
void program_handle::read_again() {
    core_->first().post([self = shared_from_this()] {
        const std::string file = self->latest()->file();
        result<std::string> text = read_program(file);
        if (!text) return self->end_reading(nullptr, std::move(text).error());
        auto version = std::make_shared<const program_version>(
            self->latest()->name(), file, *std::move(text), self->core_->functions());
        start_load(self->core_, version, [self, version](const result<void>& how) {
            self->end_reading(version, how ? std::optional<error>() : how.error());
        });
    });
}

void program_handle::end_reading(std::shared_ptr<const program_version> version,
                                 const std::optional<error>& failure) {
    if (failure && !core_->is_stopped()) {
        core_->log().write(log_level::error, "reload",
                           "a program has changed and cannot be used: " + to_text(*failure));
    }
    const std::lock_guard held(mutex_);
    is_reading_ = false;
    // Also of a version that cannot be used: what it imports may be mended.
    if (version) imports_ = version->imports();
    if (!failure) version_ = std::move(version);
}

} // namespace heddle::embed
