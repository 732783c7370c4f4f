#include "tasks/context/file_reader.hpp"

#include <heddle/coro/nursery.hpp>

#include <algorithm>
#include <optional>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_warnings = 20;
constexpr std::size_t read_ahead = 4; ///< times max_bytes: what is read at most

struct file_slot {
    std::string path;
    std::optional<result<std::string>> text;
};

/// `slot` outlives the nursery that this runs in. Only cancellation is an error.
coro::task<result<void>> read_one(ports::file_port& files, file_slot& slot,
                                  coro::call_context context) {
    result<std::string> text = co_await files.read(slot.path, context);
    if (!text && text.error().is_cancelled()) co_return std::move(text).error();
    slot.text = std::move(text);
    co_return result<void>();
}

void warn(std::vector<std::string>& warnings, std::string text) {
    if (warnings.size() < max_warnings) warnings.push_back(std::move(text));
    else if (warnings.size() == max_warnings) {
        warnings.emplace_back("more files of the context cannot be read");
    }
}

} // namespace

coro::task<result<files_read>> read_context_files(ports::file_port& files,
                                                  std::vector<std::string> paths,
                                                  reading_limits limits,
                                                  coro::call_context context) {
    files_read read;
    std::size_t room = limits.max_bytes;
    std::size_t budget = limits.max_bytes * read_ahead;
    const std::size_t wave = std::max<std::size_t>(1, limits.at_once);
    for (std::size_t from = 0; from < paths.size();) {
        if (budget == 0) {
            read.left_out.push_back(std::move(paths[from++]));
            continue;
        }
        const std::size_t to = std::min(from + wave, paths.size());
        std::vector<file_slot> slots(to - from);
        coro::nursery reads(context);
        for (file_slot& slot : slots) {
            slot.path = std::move(paths[from++]);
            reads.start([&] { return read_one(files, slot, reads.context()); });
        }
        result<void> ended = co_await reads.join();
        if (!ended) co_return std::move(ended).error();
        for (file_slot& slot : slots) {
            if (!*slot.text) {
                warn(read.warnings,
                     "the file " + slot.path + " is left out: " + slot.text->error().message());
                continue;
            }
            std::string& text = **slot.text;
            budget -= std::min(budget, text.size() + 1);
            if (text.size() > room) {
                read.left_out.push_back(std::move(slot.path));
                continue;
            }
            room -= text.size();
            read.parts.push_back(
                {std::move(slot.path), std::make_shared<const std::string>(std::move(text))});
        }
    }
    co_return read;
}

} // namespace heddle::tasks
