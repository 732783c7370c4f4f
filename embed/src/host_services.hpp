// The services that runtime_options name.
#pragma once

#include "service_source.hpp"

#include <heddle/runtime_options.hpp>

namespace heddle::embed {

/// Scripted models, providers, files and memory of the host. `options` outlive it and what it
/// makes.
class host_service_source final : public service_source {
public:
    explicit host_service_source(const runtime_options& options) : options_(options) {}
    [[nodiscard]] result<std::unique_ptr<shard_services>> make(
        coro::event_loop& loop, log_port& log, shard_services* first) const override;

private:
    const runtime_options& options_;
};

} // namespace heddle::embed
