#include <heddle/convert_choices.hpp>

namespace heddle::detail {

json any_of_schema(json::array alternatives) {
    return json::object{{"anyOf", std::move(alternatives)}};
}

} // namespace heddle::detail
