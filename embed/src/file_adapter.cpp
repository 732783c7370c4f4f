#include "file_adapter.hpp"

#include "host_call.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/base/utf8.hpp>

#include <utility>

namespace heddle::embed {

namespace {

/// Calls the host, whose exceptions are errors.
template <class Work>
auto guarded(Work work) -> decltype(work()) {
    const char* const what = "the file source";
    try {
        auto ended = work();
        if (!ended) return failure_of_host(std::move(ended).error(), what);
        return ended;
    } catch (...) {
        return failure_of_host(error_of_exception(what), what);
    }
}

class file_adapter final : public ports::file_port {
public:
    explicit file_adapter(std::shared_ptr<file_source> source) : source_(std::move(source)) {}

    coro::task<result<std::string>> read(std::string path, coro::call_context) override {
        result<std::string> text = guarded([&] { return source_->read(path); });
        if (text && !utf8::is_valid(*text))
            co_return error(errc::invalid_argument, "\"" + path + "\" is not UTF-8");
        co_return text;
    }
    coro::task<result<void>> write(std::string path, std::string text,
                                   coro::call_context) override {
        co_return guarded([&] { return source_->write(path, std::move(text)); });
    }
    coro::task<result<bool>> exists(std::string path, coro::call_context) override {
        co_return guarded([&] { return source_->exists(path); });
    }
    coro::task<result<std::vector<std::string>>> list(std::string path,
                                                      coro::call_context) override {
        co_return guarded([&] { return source_->list(path); });
    }

private:
    std::shared_ptr<file_source> source_;
};

} // namespace

std::unique_ptr<ports::file_port> make_file_adapter(std::shared_ptr<file_source> source) {
    return std::make_unique<file_adapter>(std::move(source));
}

} // namespace heddle::embed
