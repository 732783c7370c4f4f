// One version of a program.
#pragma once

#include "imported_files.hpp"

#include <heddle/function.hpp>
#include <heddle/program.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace heddle::embed {

/// What a program defines, once it is loaded.
struct program_content {
    std::vector<function_signature> functions; ///< by name
    std::vector<std::string> tasks;            ///< that it can call, sorted
};

/// The text of a program with what belongs to it. Immutable but for what it defines and imports,
/// which the first session that runs it finds. Threads: any.
class program_version {
public:
    program_version(std::string name, std::string file, std::string text,
                    std::shared_ptr<const std::vector<function_definition>> functions)
        : name_(std::move(name)), file_(std::move(file)), text_(std::move(text)),
          functions_(std::move(functions)), imports_(std::make_shared<imported_files>()) {}

    [[nodiscard]] const std::string& name() const noexcept { return name_; } ///< in errors
    [[nodiscard]] const std::string& file() const noexcept { return file_; } ///< empty: none
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Those of the host that it can call.
    [[nodiscard]] const std::shared_ptr<const std::vector<function_definition>>& functions()
        const noexcept {
        return functions_;
    }

    [[nodiscard]] program_content content() const {
        const std::lock_guard held(mutex_);
        return content_;
    }
    void set_content(program_content found) const {
        const std::lock_guard held(mutex_);
        content_ = std::move(found);
    }

    /// Of all that decides what its calls ask for; empty: not known yet.
    [[nodiscard]] std::string digest() const {
        const std::lock_guard held(mutex_);
        return digest_;
    }
    /// The first one counts: later sessions of the version are to be the same.
    void set_digest(std::string found) const {
        const std::lock_guard held(mutex_);
        if (digest_.empty()) digest_ = std::move(found);
    }

    /// The files that were imported so far.
    [[nodiscard]] const std::shared_ptr<imported_files>& imports() const noexcept {
        return imports_;
    }

    /// True once: for what is to be logged once for all threads.
    [[nodiscard]] bool take_first_note() const noexcept { return !noted_.exchange(true); }

private:
    std::string name_;
    std::string file_;
    std::string text_;
    std::shared_ptr<const std::vector<function_definition>> functions_;
    std::shared_ptr<imported_files> imports_;
    mutable std::atomic<bool> noted_{false};
    mutable std::mutex mutex_;
    mutable program_content content_;
    mutable std::string digest_;
};

} // namespace heddle::embed
