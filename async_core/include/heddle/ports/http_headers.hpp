// The headers of an HTTP request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::ports {

struct http_header {
    std::string name;
    std::string value;
    bool sensitive = false; ///< never logged, never in an error (Authorization, API keys)
};

/// A list of headers, in the order in which they are sent. Copies share their memory until one of
/// them is changed: a provider sends the same headers with each of its requests. Threads: as
/// std::shared_ptr; copies may be used by several threads at once.
class http_headers {
public:
    using value_type = http_header;
    using const_iterator = std::vector<http_header>::const_iterator;

    http_headers() = default;
    http_headers(std::vector<http_header> list) // NOLINT(*-explicit-*): it is such a list
        : list_(list.empty() ? nullptr
                             : std::make_shared<std::vector<http_header>>(std::move(list))) {}
    http_headers(std::initializer_list<http_header> list)
        : http_headers(std::vector<http_header>(list)) {}

    [[nodiscard]] const_iterator begin() const noexcept { return list().begin(); }
    [[nodiscard]] const_iterator end() const noexcept { return list().end(); }
    [[nodiscard]] std::size_t size() const noexcept { return list().size(); }
    [[nodiscard]] bool empty() const noexcept { return list().empty(); }
    [[nodiscard]] const http_header& operator[](std::size_t at) const noexcept {
        return list()[at];
    }

    void push_back(http_header header) { own().push_back(std::move(header)); }
    /// Calls `change` with the list; what it holds afterwards belongs to this copy alone.
    template <class Change>
    void edit(Change change) {
        change(own());
    }

    /// Whether there is another copy. Then the list of both is the same while both exist.
    [[nodiscard]] bool is_shared() const noexcept { return list_.use_count() > 1; }
    /// Whether `other` is a copy of this one, and neither has changed since.
    [[nodiscard]] bool is_same_as(const http_headers& other) const noexcept {
        return list_ == other.list_;
    }

private:
    [[nodiscard]] const std::vector<http_header>& list() const noexcept {
        static const std::vector<http_header> none;
        return list_ ? *list_ : none;
    }
    [[nodiscard]] std::vector<http_header>& own() {
        if (!list_) list_ = std::make_shared<std::vector<http_header>>();
        else if (is_shared()) list_ = std::make_shared<std::vector<http_header>>(*list_);
        return *list_;
    }

    std::shared_ptr<std::vector<http_header>> list_; ///< null: empty
};

} // namespace heddle::ports
