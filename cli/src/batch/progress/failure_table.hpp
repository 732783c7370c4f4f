// Why rows of a batch have failed, counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// Groups failures whose messages differ in numbers only. Holds a bounded number of groups; what
/// comes after that is counted together.
class failure_table {
public:
    struct group {
        std::string reason;   ///< "TaskError llm_error"
        std::string message;  ///< of the first of them
        std::string first_id; ///< of the row that it came from
        std::uint64_t rows = 0;
    };

    void add(std::string_view reason, std::string_view message, std::string_view id);
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// The groups, the largest first.
    [[nodiscard]] std::vector<group> groups() const;
    /// The table for people, at most `most` lines, `columns` wide (0: not cut). Empty: no failures.
    [[nodiscard]] std::string text(unsigned columns, std::size_t most = 10) const;

private:
    std::map<std::string, group, std::less<>> groups_;
    std::uint64_t count_ = 0;
};

} // namespace heddle::cli
