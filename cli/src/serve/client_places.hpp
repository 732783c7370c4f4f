// Calls at once of each client.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace heddle::cli {

/// Bounds how many calls of one client are in progress, so that one client cannot take all places.
/// Threads: one.
class client_places {
public:
    /// 0: without a bound.
    explicit client_places(std::size_t per_client) noexcept : per_client_(per_client) {}

    /// The place of a call, until it is destroyed. Lifetime: within that of the client_places.
    class place {
    public:
        place() noexcept = default;
        place(client_places& owner, std::string client) noexcept
            : owner_(&owner), client_(std::move(client)) {}
        ~place() { leave(); }
        place(place&& other) noexcept
            : owner_(std::exchange(other.owner_, nullptr)), client_(std::move(other.client_)) {}
        place& operator=(place&& other) noexcept {
            if (this == &other) return *this;
            leave();
            owner_ = std::exchange(other.owner_, nullptr);
            client_ = std::move(other.client_);
            return *this;
        }

    private:
        void leave() noexcept {
            if (owner_ != nullptr) std::exchange(owner_, nullptr)->release(client_);
        }
        client_places* owner_ = nullptr;
        std::string client_;
    };

    /// False: the client has as many calls as it may have.
    [[nodiscard]] bool take(const std::string& client, place& into) {
        if (per_client_ == 0) return true;
        std::size_t& taken = taken_[client];
        if (taken == per_client_) return false;
        ++taken;
        into = place(*this, client);
        return true;
    }

private:
    void release(const std::string& client) noexcept {
        const auto found = taken_.find(client);
        if (--found->second == 0) taken_.erase(found);
    }

    std::size_t per_client_;
    std::map<std::string, std::size_t> taken_; ///< without those that have none
};

} // namespace heddle::cli
