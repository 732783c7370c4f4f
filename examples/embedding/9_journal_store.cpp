// A journal of the host: records of calls in files, one for each tag.

#include <heddle/heddle.hpp>

#include <boost/asio/use_future.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;

/// Tags are names of files here; a store for arbitrary tags encodes them. A record is its size, a
/// line feed, and its bytes. What a crash has left of the last one is not read, and is cut off
/// before more is written.
class record_files final : public heddle::journal_store {
public:
    explicit record_files(fs::path folder) : folder_(std::move(folder)) {
        fs::create_directories(folder_);
    }

    heddle::result<std::vector<std::string>> load(const std::string& tag) override {
        std::vector<std::string> records;
        std::ifstream in(folder_ / tag, std::ios::binary);
        std::uintmax_t whole = 0;
        for (std::size_t size = 0; in >> size && in.get() == '\n';) {
            std::string bytes(size, '\0');
            if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) break;
            records.push_back(std::move(bytes));
            whole = static_cast<std::uintmax_t>(in.tellg());
        }
        if (fs::exists(folder_ / tag)) fs::resize_file(folder_ / tag, whole);
        return records;
    }
    heddle::result<void> append(const std::vector<heddle::journal_record>& records) override {
        for (const heddle::journal_record& each : records) {
            std::ofstream out(folder_ / each.tag, std::ios::binary | std::ios::app);
            out << each.bytes.size() << '\n' << each.bytes << std::flush;
            if (!out) return heddle::error(heddle::errc::io_error, "cannot write " + each.tag);
        }
        return {}; // a crash of the machine may lose them: fsync() them where that matters
    }
    heddle::result<bool> forget(const std::string& tag) override {
        return fs::remove(folder_ / tag);
    }

private:
    const fs::path folder_;
};

constexpr const char* workflow = R"lisp(
(defatom summarise (params text) (instructions "Summarise: {{text}}"))
(define (handle order text) (list (content (summarise text)) (charge order)))
)lisp";

/// As a process would do: makes a runtime, calls, and ends.
void handle_order(const fs::path& folder, bool reader_works) {
    heddle::runtime_options options;
    options.scripted_rules =
        R"json({"rules": [{"match": "^Summarise: (.*)$", "template": "{{1}} (in short)"}]})json";
    options.journal.store = std::make_shared<record_files>(folder);
    heddle::runtime rt(std::move(options));
    rt.function("charge", "Charges an order.", {"order"}, [reader_works](std::int64_t order) {
        if (!reader_works) throw std::runtime_error("the card reader does not respond");
        return order;
    });
    const heddle::program flow = rt.load_text("workflow.heddle", workflow).value();
    const heddle::json input = heddle::json::object{{"order", 17}, {"text", "two lamps"}};
    const auto ended =
        flow.call("handle", input, {.tag = "order-17"}, boost::asio::use_future).get();
    if (!ended) std::cout << ended.error().message() << "\n";
    else std::cout << ended->value().to_string() << ": " << ended->used().requests << " requests\n";
}

} // namespace

int main() {
    const fs::path folder =
        fs::temp_directory_path() / ("heddle-records-" + std::to_string(::getpid()));
    handle_order(folder, false); // the second step fails
    handle_order(folder, true);  // the first step is not repeated
    fs::remove_all(folder);
}
