#include <heddle/fs/workspace_files.hpp>

#include "file_work.hpp"

#include <heddle/coro/wait_point.hpp>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <optional>

namespace heddle::fs {

namespace {

/// What the port and the work under way share.
struct workspace {
    workspace(workspace_root opened, coro::event_loop& owner, workspace_options wanted)
        : root(std::move(opened)), loop(owner), options(wanted) {}

    boost::asio::thread_pool& workers() {
        if (!pool) pool.emplace(std::max(1U, options.threads));
        return *pool;
    }

    workspace_root root;
    coro::event_loop& loop;
    workspace_options options;
    std::optional<boost::asio::thread_pool> pool;
};

/// One piece of work: written by the worker, then read on the loop.
template <class T>
struct job {
    abandon_flag abandoned{false};
    coro::wait_point finished;
    std::optional<result<T>> outcome;
};

/// Runs work(abandoned) on a worker and waits for it on the loop.
/// Cancellation: leaves the job to itself, notified by its flag; the job keeps what it uses alive.
template <class T, class Work>
coro::task<result<T>> off_loop(std::shared_ptr<workspace> space, coro::call_context context,
                               Work work) {
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    const auto task = std::make_shared<job<T>>();
    // Tracked: the loop does not run out of work while the result is on its way.
    auto home = boost::asio::prefer(space->loop.get_executor(),
                                    boost::asio::execution::outstanding_work.tracked);
    boost::asio::post(space->workers(), [space, task, home, run = std::move(work)] {
        try {
            task->outcome = run(space->root, task->abandoned);
        } catch (const std::exception& thrown) {
            task->outcome = error(errc::internal, std::string("file access: ") + thrown.what());
        }
        boost::asio::post(home, [task] { task->finished.notify(); });
    });
    const coro::wake woken = co_await task->finished.wait(context);
    if (woken != coro::wake::notified) {
        task->abandoned.store(true, std::memory_order_relaxed);
        co_return error::cancelled(woken == coro::wake::cancelled ? context.cancel->reason()
                                                                  : cancel_reason::deadline);
    }
    co_return *std::move(task->outcome);
}

class workspace_files final : public ports::file_port {
public:
    explicit workspace_files(std::shared_ptr<workspace> space) : space_(std::move(space)) {}
    ~workspace_files() override {
        // Here and not in the destructor of the shared part, which a worker may be the last to
        // hold.
        if (space_->pool) space_->pool->join();
    }

    coro::task<result<std::string>> read(std::string path, coro::call_context context) override {
        auto work = [path = std::move(path), limit = space_->options.max_file_bytes](
                        const workspace_root& root, const abandon_flag& flag) {
            return read_file(root, path, limit, flag);
        };
        return off_loop<std::string>(space_, context, std::move(work));
    }

    coro::task<result<void>> write(std::string path, std::string text,
                                   coro::call_context context) override {
        auto work = [path = std::move(path), text = std::move(text),
                     limit = space_->options.max_file_bytes](
                        const workspace_root& root, const abandon_flag& flag) -> result<void> {
            if (text.size() > limit) {
                return error(errc::limit_exceeded, "\"" + path + "\" would be larger than " +
                                                       std::to_string(limit) + " bytes")
                    .with_retryable(false);
            }
            return write_file(root, path, text, flag);
        };
        return off_loop<void>(space_, context, std::move(work));
    }

    coro::task<result<bool>> exists(std::string path, coro::call_context context) override {
        auto work = [path = std::move(path)](const workspace_root& root, const abandon_flag&) {
            return file_exists(root, path);
        };
        return off_loop<bool>(space_, context, std::move(work));
    }

    coro::task<result<std::vector<std::string>>> list(std::string path,
                                                      coro::call_context context) override {
        auto work = [path = std::move(path), limit = space_->options.max_entries](
                        const workspace_root& root, const abandon_flag& flag) {
            return list_directory(root, path, limit, flag);
        };
        return off_loop<std::vector<std::string>>(space_, context, std::move(work));
    }

    coro::task<result<std::vector<std::string>>> names_of(std::vector<std::string> paths,
                                                          coro::call_context context) override {
        auto work = [paths = std::move(paths)](
                        const workspace_root& root,
                        const abandon_flag& flag) -> result<std::vector<std::string>> {
            std::vector<std::string> names;
            for (const std::string& path : paths) {
                if (flag.load(std::memory_order_relaxed)) break; // the caller has gone
                names.push_back(name_of_file(root, path));
            }
            return names;
        };
        return off_loop<std::vector<std::string>>(space_, context, std::move(work));
    }

private:
    std::shared_ptr<workspace> space_;
};

} // namespace

result<std::shared_ptr<ports::file_port>> make_workspace_files(std::string root,
                                                               coro::event_loop& loop,
                                                               workspace_options options) {
    HEDDLE_TRY(workspace_root opened, open_root(root));
    auto space = std::make_shared<workspace>(std::move(opened), loop, options);
    return std::shared_ptr<ports::file_port>(std::make_shared<workspace_files>(std::move(space)));
}

result<std::string> read_workspace_file(const std::string& root, const std::string& path,
                                        std::size_t max_bytes) {
    HEDDLE_TRY(const workspace_root opened, open_root(root));
    const abandon_flag never{false};
    return read_file(opened, path, max_bytes, never);
}

} // namespace heddle::fs
