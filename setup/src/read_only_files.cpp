#include "read_only_files.hpp"

#include <heddle/lang/errors.hpp>

#include <utility>

namespace heddle::setup {

namespace {

class read_only_files final : public ports::file_port {
public:
    explicit read_only_files(std::shared_ptr<ports::file_port> behind)
        : behind_(std::move(behind)) {}

    coro::task<result<std::string>> read(std::string path, coro::call_context context) override {
        return behind_->read(std::move(path), context);
    }
    coro::task<result<void>> write(std::string path, std::string, coro::call_context) override {
        co_return error(lang::errc::permission, path + " is not written in a replay");
    }
    coro::task<result<bool>> exists(std::string path, coro::call_context context) override {
        return behind_->exists(std::move(path), context);
    }
    coro::task<result<std::vector<std::string>>> list(std::string path,
                                                      coro::call_context context) override {
        return behind_->list(std::move(path), context);
    }
    coro::task<result<std::vector<std::string>>> names_of(std::vector<std::string> paths,
                                                          coro::call_context context) override {
        return behind_->names_of(std::move(paths), context);
    }

private:
    std::shared_ptr<ports::file_port> behind_;
};

} // namespace

std::shared_ptr<ports::file_port> make_read_only_files(std::shared_ptr<ports::file_port> behind) {
    return std::make_shared<read_only_files>(std::move(behind));
}

} // namespace heddle::setup
