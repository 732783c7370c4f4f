#include "model_thread.hpp"

#include <heddle/coro/spawn.hpp>

#include <boost/asio/post.hpp>
#include <hang_guard.hpp>

#include <chrono>
#include <future>

namespace heddle::cli_test {

struct model_thread::parts {
    boost::asio::io_context context{1};
    coro::event_loop loop{context};
    std::unique_ptr<scripted::server> serving;
};

namespace {

coro::task<void> serve(scripted::server* serving, coro::call_context context) {
    const result<void> ended = co_await serving->serve(context);
    (void)ended;
}

} // namespace

model_thread::model_thread(const std::string& rules, std::string required_key, std::uint16_t port)
    : parts_(std::make_unique<parts>()) {
    auto engine = scripted::engine::parse(rules, "rules.json").value();
    scripted::server_options options;
    options.port = port;
    options.required_key = secret(std::move(required_key));
    options.drain = std::chrono::milliseconds(0);
    parts_->serving =
        scripted::server::listen(engine, std::move(options), parts_->loop, null_log()).value();
    url_ = parts_->serving->base_url();
    auto& context = parts_->context;
    coro::spawn(parts_->loop, serve(parts_->serving.get(), {&parts_->loop, nullptr, {}}),
                [&context](std::exception_ptr) { context.stop(); });
    thread_ = std::thread([&context] { context.run(); });
}

model_thread::~model_thread() {
    boost::asio::post(parts_->context, [this] { parts_->serving->stop(); });
    thread_.join();
}

std::uint16_t model_thread::port() const {
    const std::size_t colon = url_.rfind(':'); // http://127.0.0.1:PORT, and maybe a path
    return static_cast<std::uint16_t>(std::stoul(url_.substr(colon + 1)));
}

scripted::server_counters model_thread::counters() {
    std::promise<scripted::server_counters> answer;
    auto future = answer.get_future();
    boost::asio::post(parts_->context, [&] { answer.set_value(parts_->serving->counters()); });
    return future.get();
}

bool model_thread::wait_until(const std::function<bool(const scripted::server_counters&)>& what) {
    return hang_guard::comes_true([&] { return what(counters()); });
}

} // namespace heddle::cli_test
