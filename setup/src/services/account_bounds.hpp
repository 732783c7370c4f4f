// What the user's own file permits an account, by whatever name a project refers to it.
#pragma once

#include "services/key_destination.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::setup {

/// The models, limits and timeouts of the user's services by account: the address with its key. A
/// project that refers to an account by a name of its own, or by that of its type, has no more than
/// the user's own names for the account have. Both arguments outlive the object.
class account_bounds {
public:
    /// Without a file of a project nothing is bounded. Linear in the services of the user.
    account_bounds(const configuration& all, const environment& variables);

    /// Restricts `settings` (all layers together) to the loosest of each setting that the user's
    /// own services with the same account have. Those that have none leave it as it is.
    void restrict(provider_config& settings) const;

private:
    struct own_service {
        std::string key;
        const provider_config* settings;
    };
    [[nodiscard]] bool is_same_key(const std::string& one, const std::string& other) const;

    const environment& variables_;
    std::unordered_map<std::string, std::vector<own_service>> by_address_;
};

} // namespace heddle::setup
