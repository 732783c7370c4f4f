#include "services/key_destination.hpp"

#include "services/key_source.hpp"

#include <heddle/setup/services/service_trust.hpp>

namespace heddle::setup {

key_destination destination_of(const provider_config& settings, const service_type& type,
                               const environment& variables) {
    return {normalised_address(address_of(settings, type, variables)),
            key_name(&settings, type.key_variables, variables)};
}

} // namespace heddle::setup
