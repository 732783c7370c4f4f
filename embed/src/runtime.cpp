#include <heddle/runtime.hpp>

#include "call_journal.hpp"
#include "plain_error.hpp"
#include "program_handle.hpp"
#include "runtime_core.hpp"

#include <heddle/base/exceptions.hpp>

#include <utility>

namespace heddle {

namespace {

result<std::shared_ptr<embed::runtime_core>> open_core(runtime_options options,
                                                       boost::asio::io_context* host) {
    try {
        auto core = std::make_shared<embed::runtime_core>(std::move(options));
        if (result<void> opened = core->open(host); !opened)
            return embed::plain_error(opened.error());
        return core;
    } catch (...) { // as when the system has no thread or descriptor left
        return embed::plain_error(error_of_exception("making a runtime"));
    }
}

std::shared_ptr<embed::runtime_core> core_or_throw(runtime_options options,
                                                   boost::asio::io_context* host) {
    auto core = open_core(std::move(options), host);
    if (!core) throw error_exception(core.error());
    return *std::move(core);
}

} // namespace

runtime::runtime(opened, std::shared_ptr<embed::runtime_core> core) noexcept
    : core_(std::move(core)) {}

runtime::runtime(runtime_options options) : core_(core_or_throw(std::move(options), nullptr)) {}

runtime::runtime(boost::asio::io_context& context, host_threads threads, runtime_options options)
    : core_(core_or_throw(std::move(options), threads == host_threads::one ? &context : nullptr)) {}

runtime::~runtime() {
    if (core_) core_->end();
}

runtime::runtime(runtime&& other) noexcept = default;

runtime& runtime::operator=(runtime&& other) noexcept {
    if (this == &other) return *this;
    if (core_) core_->end();
    core_ = std::move(other.core_);
    return *this;
}

result<runtime> runtime::create(runtime_options options) {
    HEDDLE_TRY(auto core, open_core(std::move(options), nullptr));
    return runtime(opened(), std::move(core));
}

heddle::result<void> runtime::function(function_definition definition) {
    core_->first().check_entry("runtime::function");
    return core_->add_function(std::move(definition));
}

void runtime::add_function(function_definition definition) {
    function(std::move(definition)).value();
}

heddle::result<program> runtime::load(std::string file, load_options options) {
    core_->first().check_entry("runtime::load");
    // Before the text: what is written while the program is read and loaded has another time.
    const auto noted = embed::imported_files::time_to_note(file);
    HEDDLE_TRY(std::string text, embed::read_program(file));
    auto version = std::make_shared<const embed::program_version>(file, file, std::move(text),
                                                                  core_->functions());
    HEDDLE_CHECK(embed::try_program(core_, version));
    return program(
        std::make_shared<embed::program_handle>(core_, std::move(version), noted, options));
}

heddle::result<program> runtime::load_text(std::string name, std::string text) {
    core_->first().check_entry("runtime::load_text");
    auto version = std::make_shared<const embed::program_version>(
        std::move(name), std::string(), std::move(text), core_->functions());
    HEDDLE_CHECK(embed::try_program(core_, version));
    return program(std::make_shared<embed::program_handle>(
        core_, std::move(version), embed::imported_files::time_type::min(), load_options()));
}

heddle::result<bool> runtime::forget(std::string_view tag) {
    embed::call_journal* const journal = core_->journal();
    if (!journal) {
        return error(errc::invalid_argument, "the runtime records no calls")
            .with_hint("set runtime_options::journal");
    }
    return journal->forget(std::string(tag));
}

void runtime::start_shutdown(std::shared_ptr<embed::runtime_core> core,
                             std::chrono::nanoseconds grace, detail::posted_handler<> handler) {
    core->first().check_entry("runtime::shutdown");
    auto otherwise = core->handler_executor();
    core->shut_down(grace, {std::move(handler), std::move(otherwise)});
}

runtime_stats runtime::stats() const { return core_->stats(); }

} // namespace heddle
