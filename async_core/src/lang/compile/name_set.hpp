// Names that a program defines.
#pragma once

#include "lang/value/chained_buckets.hpp"

#include <heddle/base/keyed_hash.hpp>

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace heddle::lang {

/// A set of names. No operation takes long, however many there are.
class name_set {
public:
    [[nodiscard]] bool contains(std::string_view name) const {
        return contains(name, name_hash()(name));
    }
    void insert(std::string_view name) {
        const std::size_t hash = name_hash()(name);
        if (contains(name, hash)) return;
        buckets_.insert(names_.emplace_back(entry{std::string(name), hash, nullptr}));
    }

    /// Forgets a name; false: there was none. Nothing else may follow.
    bool drop_one() {
        if (names_.empty()) return false;
        names_.pop_back();
        return true;
    }

private:
    struct entry {
        std::string name;
        std::size_t hash;
        entry* chain;
    };

    [[nodiscard]] bool contains(std::string_view name, std::size_t hash) const {
        return buckets_.find(hash, [name](const entry& each) { return each.name == name; });
    }

    std::deque<entry> names_;
    chained_buckets<entry> buckets_;
};

} // namespace heddle::lang
