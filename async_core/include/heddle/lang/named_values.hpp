// Values by name.
#pragma once

#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/value.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heddle::lang {

/// Values by name. A copy shares them until one of the two changes. Threads: one at a time.
class named_values {
public:
    [[nodiscard]] bool is_empty() const noexcept { return !values_ || values_->empty(); }
    /// Null if there is none.
    [[nodiscard]] const value* find(std::string_view name) const {
        if (is_empty()) return nullptr;
        const auto found = values_->find(name);
        return found == values_->end() ? nullptr : &found->second;
    }
    void put(std::string_view name, value content) {
        own().insert_or_assign(std::string(name), std::move(content));
    }
    void erase(std::string_view name) {
        if (find(name)) own().erase(std::string(name));
    }
    /// Calls visit(name, value) for each, in no particular order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        if (!values_) return;
        for (const auto& [name, content] : *values_) visit(name, content);
    }

private:
    using map = std::unordered_map<std::string, value, name_hash, std::equal_to<>>;
    [[nodiscard]] map& own() {
        if (!values_) values_ = std::make_shared<map>();
        else if (values_.use_count() != 1) values_ = std::make_shared<map>(*values_);
        return *values_;
    }

    std::shared_ptr<map> values_; ///< null: none
};

} // namespace heddle::lang
