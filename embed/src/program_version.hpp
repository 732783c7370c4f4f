// One version of a program.
#pragma once

#include <heddle/function.hpp>
#include <heddle/program.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace heddle::embed {

/// The text of a program with what belongs to it. Immutable but for the list of its functions,
/// which the first session that runs it finds. Threads: any.
class program_version {
public:
    program_version(std::string name, std::string file, std::string text,
                    std::shared_ptr<const std::vector<function_definition>> functions)
        : name_(std::move(name)), file_(std::move(file)), text_(std::move(text)),
          functions_(std::move(functions)) {}

    [[nodiscard]] const std::string& name() const noexcept { return name_; } ///< in errors
    [[nodiscard]] const std::string& file() const noexcept { return file_; } ///< empty: none
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Those of the host that it can call.
    [[nodiscard]] const std::shared_ptr<const std::vector<function_definition>>& functions()
        const noexcept {
        return functions_;
    }

    [[nodiscard]] std::vector<function_signature> signatures() const {
        const std::lock_guard held(mutex_);
        return signatures_;
    }
    void set_signatures(std::vector<function_signature> found) const {
        const std::lock_guard held(mutex_);
        signatures_ = std::move(found);
    }

    /// True once: for what is to be logged once for all threads.
    [[nodiscard]] bool take_first_note() const noexcept { return !noted_.exchange(true); }

private:
    std::string name_;
    std::string file_;
    std::string text_;
    std::shared_ptr<const std::vector<function_definition>> functions_;
    mutable std::atomic<bool> noted_{false};
    mutable std::mutex mutex_;
    mutable std::vector<function_signature> signatures_;
};

} // namespace heddle::embed
