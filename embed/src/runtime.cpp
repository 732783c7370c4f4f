#include <heddle/runtime.hpp>

#include "plain_error.hpp"
#include "program_handle.hpp"
#include "runtime_core.hpp"

#include <boost/asio/system_executor.hpp>

#include <utility>

namespace heddle {

namespace {

result<std::shared_ptr<embed::runtime_core>> open_core(runtime_options options,
                                                       boost::asio::io_context* host) {
    auto core = std::make_shared<embed::runtime_core>(std::move(options));
    if (result<void> opened = core->open(host); !opened) return embed::plain_error(opened.error());
    return core;
}

std::shared_ptr<embed::runtime_core> core_or_throw(runtime_options options,
                                                   boost::asio::io_context* host) {
    auto core = open_core(std::move(options), host);
    if (!core) throw error_exception(core.error());
    return *std::move(core);
}

} // namespace

runtime::runtime(std::shared_ptr<embed::runtime_core> core) noexcept : core_(std::move(core)) {}

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
    return runtime(std::move(core));
}

heddle::result<void> runtime::function(function_definition definition) {
    return core_->add_function(std::move(definition));
}

void runtime::add_function(function_definition definition) {
    core_->add_function(std::move(definition)).value();
}

heddle::result<program> runtime::load(std::string file, load_options options) {
    HEDDLE_TRY(std::string text, embed::read_program(file));
    auto version = std::make_shared<const embed::program_version>(file, file, std::move(text),
                                                                  core_->functions());
    HEDDLE_CHECK(embed::try_program(core_, version));
    return program(std::make_shared<embed::program_handle>(core_, std::move(version), options));
}

heddle::result<program> runtime::load_text(std::string name, std::string text) {
    auto version = std::make_shared<const embed::program_version>(
        std::move(name), std::string(), std::move(text), core_->functions());
    HEDDLE_CHECK(embed::try_program(core_, version));
    return program(
        std::make_shared<embed::program_handle>(core_, std::move(version), load_options()));
}

void runtime::start_shutdown(std::shared_ptr<embed::runtime_core> core,
                             std::chrono::nanoseconds grace,
                             boost::asio::any_completion_handler<void()> handler) {
    // The threads of the runtime end meanwhile.
    core->shut_down(grace, {std::move(handler), boost::asio::system_executor()});
}

runtime_stats runtime::stats() const { return core_->stats(); }

} // namespace heddle
