// The types of JSON values, as the keyword `type` names them.
#pragma once

namespace valijson::adapters {
class Adapter;
}

namespace heddle::tasks {

/// A set of types. `integer` holds numbers without a fraction, however they are written.
class json_types {
public:
    /// `names`: a name or an array of names. Throws std::invalid_argument for another one.
    explicit json_types(const valijson::adapters::Adapter& names);

    [[nodiscard]] bool hold(const valijson::adapters::Adapter& target) const;

private:
    unsigned allowed_ = 0;
};

} // namespace heddle::tasks
