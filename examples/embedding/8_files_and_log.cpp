// Files, log and output of the host.

#include <heddle/heddle.hpp>

#include <boost/asio/use_future.hpp>

#include <iostream>
#include <map>
#include <mutex>

namespace {

/// Documents in memory, all in one folder. Workflows of all threads use them.
class documents final : public heddle::file_source {
public:
    explicit documents(std::map<std::string, std::string> texts) : texts_(std::move(texts)) {}

    heddle::result<std::string> read(const std::string& path) override {
        const std::lock_guard held(mutex_);
        const auto found = texts_.find(path);
        if (found == texts_.end())
            return heddle::error(heddle::errc::not_found, "there is no document \"" + path + "\"");
        return found->second;
    }
    heddle::result<void> write(const std::string& path, std::string text) override {
        const std::lock_guard held(mutex_);
        texts_[path] = std::move(text);
        return {};
    }
    heddle::result<bool> exists(const std::string& path) override {
        const std::lock_guard held(mutex_);
        return texts_.contains(path);
    }
    heddle::result<std::vector<std::string>> list(const std::string&) override {
        const std::lock_guard held(mutex_);
        std::vector<std::string> names;
        for (const auto& [name, text] : texts_) names.push_back(name);
        return names;
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::string> texts_;
};

constexpr const char* workflow = R"lisp(
(define (shout name)
  (write-file (string-append name ".loud") (string-upcase (read-file name)))
  (log-message "wrote a document")
  (print "done")
  (list-directory "."))
)lisp";

} // namespace

int main() {
    std::mutex mutex; // lines come from all threads of the runtime
    heddle::runtime_options options;
    options.files =
        std::make_shared<documents>(std::map<std::string, std::string>{{"loom", "warp and weft"}});
    options.log = [&](heddle::log_level level, std::string_view component, std::string_view line) {
        const std::lock_guard held(mutex);
        std::cout << (level >= heddle::log_level::warn ? "warning: " : "note: ") << component
                  << ": " << line << "\n";
    };
    options.print = [&](std::string_view text) {
        const std::lock_guard held(mutex);
        std::cout << text;
    };
    const auto files = options.files;
    heddle::runtime rt(std::move(options));
    const heddle::program flow = rt.load_text("workflow.heddle", workflow).value();
    const auto names = flow.call("shout", "loom", boost::asio::use_future).get();
    std::cout << (names ? names->value().to_string() : to_text(names.error())) << "\n"
              << files->read("loom.loud").value() << "\n";
    const auto missing = flow.call("shout", "shuttle", boost::asio::use_future).get();
    std::cout << missing.error().message() << "\n";
}
