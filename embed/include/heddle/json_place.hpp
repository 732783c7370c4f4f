// The position of a conversion in a JSON value.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace HEDDLE_PUBLIC heddle {

/// How from_json reads.
struct read_options {
    /// The name of the whole value in errors: with "customer", a path is
    /// "customer.orders[3].price".
    std::string_view name;
    /// Ignore members that the described struct does not have; otherwise they are errors.
    bool ignores_unknown = false;
};

/// How many more attempts of alternatives may fail. Each level of a recursive variant reads the
/// levels below once for each alternative, so without this bound the time would grow exponentially
/// with the depth.
struct trial_budget {
    std::size_t left = 0;
};

/// A place in a JSON value that is being converted, and the first error of the conversion. A place
/// refers to the enclosing one: places live on the stack during one conversion.
class json_place {
public:
    json_place(const read_options& options, std::optional<error>& failure) noexcept
        : name_(options.name), failure_(&failure), ignores_unknown_(options.ignores_unknown) {}

    /// The place of a member or an element of the value.
    [[nodiscard]] json_place in(std::string_view member) const noexcept {
        return {*this, member, none};
    }
    [[nodiscard]] json_place in(std::size_t index) const noexcept { return {*this, {}, index}; }
    /// The same place, which reports errors to `failure` and counts trials in `budget`.
    [[nodiscard]] json_place trial(std::optional<error>& failure,
                                   trial_budget& budget) const noexcept {
        json_place same = *this;
        same.failure_ = &failure;
        same.trials_ = &budget;
        return same;
    }
    /// The budget of the trial that this place is part of; null: none.
    [[nodiscard]] trial_budget* trials() const noexcept { return trials_; }

    /// Notes an error, unless there is one: "path: expected … but found …".
    std::nullopt_t expected(std::string_view what, const json& found) const;
    /// Notes an error, unless there is one: "path: problem".
    std::nullopt_t fail(std::string_view problem, errc code = errc::invalid_argument) const;
    /// Notes an existing error, with the path in front.
    std::nullopt_t fail(const error& failure) const;

    [[nodiscard]] bool failed() const noexcept { return failure_->has_value(); }
    [[nodiscard]] bool ignores_unknown() const noexcept { return ignores_unknown_; }
    /// "customer.orders[3].price"; a name that is not plain is quoted: `headers["a b"]`.
    [[nodiscard]] std::string path() const;

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    json_place(const json_place& outer, std::string_view name, std::size_t index) noexcept
        : outer_(&outer), name_(name), index_(index), failure_(outer.failure_),
          trials_(outer.trials_), ignores_unknown_(outer.ignores_unknown_) {}

    const json_place* outer_ = nullptr;
    std::string_view name_;
    std::size_t index_ = none;
    std::optional<error>* failure_;
    trial_budget* trials_ = nullptr;
    bool ignores_unknown_ = false;
};

} // namespace heddle
