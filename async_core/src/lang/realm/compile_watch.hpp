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
    /// What was compiled when `spend` was last called: a limit is met there.
    source_span now_at;

protected:
    ~compile_watch() = default;
};

/// An error that ended a compilation; that of a limit, met at `place`, does not know the place
/// itself.
[[nodiscard]] error limit_at(error stop, source_span place);

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
    /// What is compiled from now on.
    void at(source_span place) noexcept {
        if (place.known()) place_ = place;
    }
    [[nodiscard]] source_span place() const noexcept { return place_; }
    /// Pays for the rest.
    [[nodiscard]] std::optional<error> pay();
    /// The tree and the code take so many bytes more, as long as the compilation goes on.
    void take(std::size_t bytes) noexcept { memory_.set(realm_.memory(), memory_.bytes() + bytes); }

private:
    static constexpr std::uint64_t portion = 1024;
    realm& realm_;
    compile_watch* watch_;
    std::uint64_t unpaid_ = 0;
    source_span place_;
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
            own_->now_at = now_at;
            if (auto stop = own_->spend(work)) return stop;
        }
        if (!outer_) return std::nullopt;
        outer_->now_at = now_at;
        return outer_->spend(work);
    }

private:
    realm& realm_;
    compile_watch* own_;
    compile_watch* outer_;
};

} // namespace heddle::lang
