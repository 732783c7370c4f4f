// What the user permits an account, by whatever name a project refers to it.
#pragma once

#include "services/key_destination.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::setup {

/// The models, limits and timeouts of the user's services by account: where it is, with its key. A
/// project that refers to an account by a name of its own, or by that of its type, has no more than
/// the user's own names for the account have. The environment outlives the object.
class account_bounds {
public:
    explicit account_bounds(const environment& variables) : variables_(variables) {}

    /// A service that the user's own file has or names, with the user's own settings alone.
    void add(provider_config own);
    /// Restricts `settings` (all layers together) to the loosest of each setting that the user's
    /// own services with the same account have. If they have none, it stays as it is.
    void restrict(provider_config& settings) const;

private:
    struct own_service {
        std::string key; ///< its name
        service_bounds bounds;
    };
    [[nodiscard]] bool may_be_same_key(const std::string& one, const std::string& other) const;

    const environment& variables_;
    std::unordered_map<std::string, std::vector<own_service>> by_origin_;
};

} // namespace heddle::setup
