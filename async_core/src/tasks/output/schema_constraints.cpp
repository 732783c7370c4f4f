// Constraints of our own for the library valijson.
#include "tasks/output/schema_constraints.hpp"

#include "tasks/output/canonical_text.hpp"
#include "tasks/output/json_types.hpp"
#include "tasks/output/schema_number.hpp"
#include "tasks/output/schema_rewriter.hpp"
#include "tasks/output/shape_check.hpp"

#include <heddle/base/utf8.hpp>

#include <re2/re2.h>

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::tasks {

namespace {

/// The library calls itself for what is inside.
constexpr std::uint64_t max_stack = 2 * 1024 * 1024;
/// Bytes of a text, times the size of the pattern. Where the memory of a pattern is not enough for
/// more, each byte is held against all of it.
constexpr std::uint64_t matched_in_a_step = 256;
/// Nothing interrupts a match.
constexpr std::uint64_t max_of_a_match = 3'000'000;
/// Names on the way to a value that the library copies for each value below them.
constexpr std::uint64_t names_in_a_step = 16;
/// What the library takes to read a schema, in units of a meter.
constexpr std::uint64_t units_of_a_schema = 2'000;
/// What a step takes, about, in units of a meter.
constexpr std::uint64_t units_of_a_check = 32;

thread_local check_effort* current_effort = nullptr;

/// Comes first in every schema. Each member of an object and each element of an array is checked by
/// a schema, and so counted when it is reached.
class counted_check final : public valijson::constraints::PolyConstraint {
public:
    explicit counted_check(std::uint64_t steps) : steps_(steps) {}

    bool validate(const valijson::adapters::Adapter&, const std::vector<std::string>& where,
                  valijson::ValidationResults*) const override {
        std::uint64_t bytes = 0;
        for (const std::string& each : where) bytes += each.size();
        check_effort::take(steps_ + where.size() / names_in_a_step + bytes / copied_in_a_step);
        return true;
    }

private:
    Constraint* cloneInto(void* place) const override { return new (place) counted_check(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }

    std::uint64_t steps_;
};

/// The schema `false`.
class never_check final : public valijson::constraints::PolyConstraint {
public:
    bool validate(const valijson::adapters::Adapter&, const std::vector<std::string>& where,
                  valijson::ValidationResults* results) const override {
        check_effort::take(1);
        if (results) results->pushError(where, "The schema allows no value here");
        return false;
    }

private:
    Constraint* cloneInto(void* place) const override { return new (place) never_check(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }
};

/// `type`: one or several.
class safe_type final : public valijson::constraints::PolyConstraint {
public:
    /// `names`: a name or an array of them, as checked by the rewriter.
    explicit safe_type(const valijson::adapters::Adapter& names) : allowed_(names) {}

    bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& where,
                  valijson::ValidationResults* results) const override {
        if (allowed_.hold(target)) return true;
        if (results) results->pushError(where, "Value type not permitted by 'type' constraint.");
        return false;
    }

private:
    Constraint* cloneInto(void* place) const override { return new (place) safe_type(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }

    json_types allowed_;
};

[[nodiscard]] schema_number limit_of(const valijson::adapters::Adapter& content) {
    if (!content.isNumber()) throw std::invalid_argument("the limit of a number is not a number");
    return schema_number::of(content);
}

/// `minimum`, `maximum` and their exclusive forms.
class safe_bound final : public valijson::constraints::PolyConstraint {
public:
    enum class bound : std::uint8_t { least, above, most, below };
    safe_bound(bound kind, const valijson::adapters::Adapter& limit)
        : kind_(kind), limit_(limit_of(limit)) {}

    bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& where,
                  valijson::ValidationResults* results) const override {
        if (!target.isNumber() || holds(schema_number::of(target))) return true;
        if (results) results->pushError(where, "Expected number " + words() + " " + limit_.text());
        return false;
    }

private:
    [[nodiscard]] bool holds(const schema_number& number) const noexcept {
        const auto order = number <=> limit_;
        switch (kind_) {
        case bound::least: return order >= 0;
        case bound::above: return order > 0;
        case bound::most: return order <= 0;
        case bound::below: return order < 0;
        }
        return false;
    }
    [[nodiscard]] std::string words() const {
        switch (kind_) {
        case bound::least: return "greater than or equal to";
        case bound::above: return "greater than";
        case bound::most: return "less than or equal to";
        case bound::below: return "less than";
        }
        return {};
    }
    Constraint* cloneInto(void* place) const override { return new (place) safe_bound(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }

    bound kind_;
    schema_number limit_;
};

/// `multipleOf`, by the digits of both: 19.99 / 0.01 is not a whole number in doubles.
class safe_multiple final : public valijson::constraints::PolyConstraint {
public:
    explicit safe_multiple(const valijson::adapters::Adapter& divisor)
        : divisor_(limit_of(divisor)) {}

    bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& where,
                  valijson::ValidationResults* results) const override {
        if (!target.isNumber() || schema_number::of(target).is_multiple_of(divisor_)) return true;
        if (results)
            results->pushError(where, "The number should be a multiple of " + divisor_.text());
        return false;
    }

private:
    Constraint* cloneInto(void* place) const override { return new (place) safe_multiple(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }

    schema_number divisor_;
};

/// `pattern` in linear time.
class safe_pattern final : public valijson::constraints::PolyConstraint {
public:
    explicit safe_pattern(std::shared_ptr<const RE2> pattern) : pattern_(std::move(pattern)) {}

    bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& where,
                  valijson::ValidationResults* results) const override {
        if (!target.isString()) return true;
        const std::string text = target.asString();
        const auto size = static_cast<std::uint64_t>(std::max(pattern_->ProgramSize(), 1));
        const std::uint64_t steps = 1 + text.size() * size / matched_in_a_step;
        if (steps > max_of_a_match) throw too_dear{};
        check_effort::take(steps);
        if (RE2::PartialMatch(text, *pattern_)) return true;
        if (results) {
            results->pushError(where, "The text does not match the pattern " + pattern_->pattern());
        }
        return false;
    }

private:
    Constraint* cloneInto(void* place) const override { return new (place) safe_pattern(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }

    std::shared_ptr<const RE2> pattern_;
};

/// `minLength` and `maxLength`, in characters.
class safe_length final : public valijson::constraints::PolyConstraint {
public:
    enum class bound : std::uint8_t { least, most };
    safe_length(bound kind, std::uint64_t limit) : kind_(kind), limit_(limit) {}

    bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& where,
                  valijson::ValidationResults* results) const override {
        if (!target.isString() || holds(target.asString())) return true;
        if (results) {
            results->pushError(where, std::string("String should be no ") +
                                          (kind_ == bound::most ? "more" : "fewer") + " than " +
                                          std::to_string(limit_) + " characters in length.");
        }
        return false;
    }

private:
    [[nodiscard]] bool holds(const std::string& text) const {
        constexpr std::size_t piece_bytes = 16 * 1024;
        std::uint64_t characters = 0;
        for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
            const std::string_view piece = std::string_view(text).substr(at, piece_bytes);
            check_effort::take(piece.size() / copied_in_a_step);
            characters += utf8::count(piece); // by first bytes: a piece may begin inside of one
        }
        return kind_ == bound::most ? characters <= limit_ : characters >= limit_;
    }
    Constraint* cloneInto(void* place) const override { return new (place) safe_length(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }

    bound kind_;
    std::uint64_t limit_;
};

/// `enum` and `const`: a look-up, however many values there are.
class safe_values final : public valijson::constraints::PolyConstraint {
public:
    /// `values`: an array.
    explicit safe_values(const valijson::adapters::Adapter& values) {
        std::vector<std::string> known;
        values.applyToArray([&](const valijson::adapters::Adapter& each) {
            append_canonical(known.emplace_back(), each);
            return true;
        });
        std::sort(known.begin(), known.end());
        known_ = std::make_shared<const std::vector<std::string>>(std::move(known));
    }

    bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& where,
                  valijson::ValidationResults* results) const override {
        std::string text;
        append_canonical(text, target);
        if (std::binary_search(known_->begin(), known_->end(), text)) return true;
        if (results) results->pushError(where, "The value is none of those that the schema allows");
        return false;
    }

private:
    Constraint* cloneInto(void* place) const override { return new (place) safe_values(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }

    std::shared_ptr<const std::vector<std::string>> known_;
};

/// `uniqueItems` without comparing each with each.
class safe_unique final : public valijson::constraints::PolyConstraint {
public:
    bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& where,
                  valijson::ValidationResults* results) const override {
        if (!target.isArray()) return true;
        std::vector<std::string> elements;
        target.applyToArray([&](const valijson::adapters::Adapter& element) {
            append_canonical(elements.emplace_back(), element);
            return true;
        });
        std::sort(elements.begin(), elements.end(), counted_less);
        if (std::adjacent_find(elements.begin(), elements.end()) == elements.end()) return true;
        if (results) results->pushError(where, "Elements in the array should be unique");
        return false;
    }

private:
    Constraint* cloneInto(void* place) const override { return new (place) safe_unique(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }
};

/// Makes one of the constraints above out of the value of its keyword.
class own_builder final : public valijson::ConstraintBuilder {
public:
    using maker = valijson::constraints::Constraint* (*)(const valijson::adapters::Adapter&);
    explicit own_builder(maker make) : make_(make) {}
    valijson::constraints::Constraint* make(
        const valijson::adapters::Adapter& content) const override {
        return make_(content);
    }

private:
    maker make_;
};

/// Part of every schema, and so counts the reading of each.
class effort_builder final : public valijson::ConstraintBuilder {
public:
    explicit effort_builder(lang::work_meter& work) : work_(work) {}
    valijson::constraints::Constraint* make(
        const valijson::adapters::Adapter& content) const override {
        if (!work_.spend(units_of_a_schema)) throw given_up{};
        return new counted_check(static_cast<std::uint64_t>(content.asInteger()));
    }

private:
    lang::work_meter& work_;
};

class pattern_builder final : public valijson::ConstraintBuilder {
public:
    explicit pattern_builder(const schema_patterns& patterns) : patterns_(patterns) {}
    valijson::constraints::Constraint* make(
        const valijson::adapters::Adapter& content) const override {
        auto pattern = patterns_.find(content.asString());
        if (!pattern) throw std::invalid_argument("a pattern is not known");
        return new safe_pattern(std::move(pattern));
    }

private:
    const schema_patterns& patterns_;
};

} // namespace

void add_own_keywords(valijson::SchemaParser& parser, const schema_patterns& patterns,
                      lang::work_meter& work) {
    using valijson::adapters::Adapter;
    using valijson::constraints::Constraint;
    struct row {
        std::string_view key;
        own_builder::maker make;
    };
    using length = safe_length::bound;
    using limit = safe_bound::bound;
    static constexpr std::array<row, 12> rows{{
        {shape_key, &make_shape_check},
        {never_key, [](const Adapter&) -> Constraint* { return new never_check; }},
        {safe_min_length_key,
         [](const Adapter& content) -> Constraint* {
             return new safe_length(length::least, static_cast<std::uint64_t>(content.asInteger()));
         }},
        {safe_max_length_key,
         [](const Adapter& content) -> Constraint* {
             return new safe_length(length::most, static_cast<std::uint64_t>(content.asInteger()));
         }},
        {safe_minimum_key,
         [](const Adapter& content) -> Constraint* {
             return new safe_bound(limit::least, content);
         }},
        {safe_above_key,
         [](const Adapter& content) -> Constraint* {
             return new safe_bound(limit::above, content);
         }},
        {safe_maximum_key,
         [](const Adapter& content) -> Constraint* {
             return new safe_bound(limit::most, content);
         }},
        {safe_below_key,
         [](const Adapter& content) -> Constraint* {
             return new safe_bound(limit::below, content);
         }},
        {safe_type_key,
         [](const Adapter& content) -> Constraint* { return new safe_type(content); }},
        {safe_multiple_key,
         [](const Adapter& content) -> Constraint* { return new safe_multiple(content); }},
        {safe_values_key,
         [](const Adapter& content) -> Constraint* { return new safe_values(content); }},
        {safe_unique_key, [](const Adapter&) -> Constraint* { return new safe_unique; }},
    }};
    // The parser deletes its builders.
    for (const row& each : rows) {
        parser.addConstraintBuilder(std::string(each.key), new own_builder(each.make));
    }
    parser.addConstraintBuilder(std::string(effort_key), new effort_builder(work));
    parser.addConstraintBuilder(std::string(safe_pattern_key), new pattern_builder(patterns));
}

check_effort::check_effort(std::uint64_t steps, lang::work_meter& work) noexcept
    : left_(steps), work_(work), base_(__builtin_frame_address(0)),
      outer_(std::exchange(current_effort, this)) {}

check_effort::~check_effort() { current_effort = outer_; }

void check_effort::take(std::uint64_t steps) {
    check_effort* const mine = current_effort;
    if (!mine) return;
    if (steps > mine->left_ || mine->stack_used() > max_stack) throw too_dear{};
    mine->left_ -= steps;
    spend(steps * units_of_a_check);
}

void check_effort::spend(std::uint64_t units) {
    check_effort* const mine = current_effort;
    if (mine && !mine->work_.spend(units)) throw given_up{};
}

std::uint64_t check_effort::stack_used() const noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto there = reinterpret_cast<std::uintptr_t>(base_);
    return here < there ? there - here : here - there;
}

} // namespace heddle::tasks
