// Bounds of compiling.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/realm.hpp>

#include <cstdint>
#include <optional>

namespace heddle::lang {

/// Whoever waits for a compilation looks at its limits while it goes on.
class compile_watch {
public:
    /// `work`: what was done since the last call, in steps. An error ends the compilation.
    [[nodiscard]] virtual std::optional<error> spend(std::uint64_t work) = 0;

protected:
    ~compile_watch() = default;
};

/// The work of one compilation: nodes of the tree, instructions, macros. Paid for in portions.
class compile_work {
public:
    /// `watch`: null for a text that is not made by a running program.
    compile_work(realm& realm, compile_watch* watch) : realm_(realm), watch_(watch) {}

    /// So much more was done. An error ends the compilation.
    [[nodiscard]] std::optional<error> add(std::uint64_t work) {
        unpaid_ += work;
        return unpaid_ < portion ? std::nullopt : pay();
    }
    /// Pays for the rest.
    [[nodiscard]] std::optional<error> pay();
    /// The tree and the code take so many bytes more, as long as the compilation goes on.
    void take(std::size_t bytes) noexcept { memory_.set(realm_.memory(), memory_.bytes() + bytes); }

private:
    static constexpr std::uint64_t portion = 1024;
    realm& realm_;
    compile_watch* watch_;
    std::uint64_t unpaid_ = 0;
    heap_charge memory_;
};

/// Notifies the watches of all compilations that wait for this one, the realm's innermost first.
class nested_watch final : public compile_watch {
public:
    nested_watch(realm& realm, compile_watch* own)
        : realm_(realm), own_(own), outer_(realm.watch()) {
        realm_.set_watch(this);
    }
    ~nested_watch() { realm_.set_watch(outer_); }
    nested_watch(const nested_watch&) = delete;
    nested_watch& operator=(const nested_watch&) = delete;

    [[nodiscard]] std::optional<error> spend(std::uint64_t work) override {
        if (own_) {
            if (auto stop = own_->spend(work)) return stop;
        }
        return outer_ ? outer_->spend(work) : std::nullopt;
    }

private:
    realm& realm_;
    compile_watch* own_;
    compile_watch* outer_;
};

} // namespace heddle::lang
