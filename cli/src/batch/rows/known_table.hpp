// Which rows of the input the run knows already.
#pragma once

#include <heddle/ports/run_journal.hpp>
#include <heddle/rows/row.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::cli {

/// Rows by their ids. An input that has not changed is found row by row without an index.
class known_table {
public:
    /// `rows`: by their numbers, ascending. `ids_are_given`: by a column, so that two rows may have
    /// the same.
    known_table(std::vector<ports::known_row> rows, bool ids_are_given);

    struct match {
        std::uint64_t number = 0;                ///< in the run
        const ports::known_row* known = nullptr; ///< null: it is new. Valid as long as the table
        bool duplicate = false;                  ///< an earlier row of the input has its id
    };
    /// The next row of the input. Each row is looked up once. The first row of an id is the one
    /// that has a result; one that could not be read is known by its content, or by its place if it
    /// was mended there.
    [[nodiscard]] match look_up(const rows::row_origin& row);
    /// Whether the input of this process has had the row at that index of rows().
    [[nodiscard]] bool was_seen(std::size_t index) const { return seen_[index]; }

    /// Rows that have ended under the program as it is now, and that the input has not had so far.
    [[nodiscard]] std::uint64_t unseen_ends() const;

    [[nodiscard]] const std::vector<ports::known_row>& rows() const noexcept { return rows_; }

private:
    struct digest_hash {
        using is_avalanching = void;
        std::size_t operator()(const ports::digest128& digest) const noexcept {
            return static_cast<std::size_t>(digest.low);
        }
    };
    [[nodiscard]] std::optional<std::size_t> find_first(const rows::row_origin& row);
    [[nodiscard]] std::optional<std::size_t> find_duplicate(const rows::row_origin& row);
    [[nodiscard]] std::optional<std::size_t> rejected_at(std::optional<std::size_t> place) const;
    void make_index();
    [[nodiscard]] std::optional<std::size_t> at_number(std::uint64_t number) const;
    /// Of a row that the run does not know: its position, or the next number that no row of the run
    /// has. Positions come once each, ascending.
    [[nodiscard]] std::uint64_t new_number(std::uint64_t position);

    std::vector<ports::known_row> rows_;
    std::vector<bool> seen_; ///< in the input of this process
    bool ids_are_given_;
    bool indexed_ = false;
    boost::unordered_flat_map<ports::digest128, std::size_t, digest_hash> by_id_;
    using indexes = std::vector<std::size_t>;
    boost::unordered_flat_map<ports::digest128, indexes, digest_hash> further_;  ///< of those ids
    boost::unordered_flat_map<ports::digest128, indexes, digest_hash> rejected_; ///< by content
    boost::unordered_flat_set<ports::digest128, digest_hash> ids_; ///< of the input so far
    std::uint64_t first_new_ = 0; ///< all numbers of the run so far are below
    std::uint64_t next_free_ = 0; ///< number of a row whose position is taken
};

} // namespace heddle::cli
