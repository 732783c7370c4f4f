// The language with all its names, but without effects, for commands that run no program.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>
#include <heddle/tasks/definition/task_template.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <vector>

namespace heddle::cli {

/// A session that is never run: no models, no files, no network.
class offline_session {
public:
    /// Errors: none expected.
    /// `templates` are registered, so that their names are known.
    [[nodiscard]] static result<std::unique_ptr<offline_session>> create(
        std::vector<tasks::task_template> templates = {});

    [[nodiscard]] lang::realm& realm() noexcept { return session_->realm(); }

private:
    offline_session() : loop_(context_) {}

    boost::asio::io_context context_{1};
    coro::event_loop loop_;
    std::unique_ptr<host::engine> engine_;
    std::unique_ptr<host::session> session_;
};

} // namespace heddle::cli
