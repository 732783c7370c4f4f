// One record of CSV or TSV, taken piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::rows {

/// RFC 4180, with these additions: a line may end with LF alone; a quote inside of a field that
/// does not begin with one is a character of it. Beyond `max_bytes` fields are not kept, but the
/// end of the record is still found.
class delimited_record {
public:
    delimited_record(char separator, std::size_t max_bytes)
        : separator_(separator), max_bytes_(max_bytes) {}

    void begin();
    /// Takes bytes up to a line feed, inclusive, or up to an end inside of a line. True: the
    /// record has ended.
    [[nodiscard]] bool take(std::string_view piece);
    /// The file ends here.
    void finish();

    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
    [[nodiscard]] std::string_view field(std::size_t number) const noexcept;
    [[nodiscard]] bool inside_quotes() const noexcept { return state_ == state::quoted; }
    /// Something other than a separator came after a closing quote.
    [[nodiscard]] bool broken_quote() const noexcept { return broken_; }
    /// Of the first broken quote, or of the field that is open: from 1.
    [[nodiscard]] std::size_t broken_field() const noexcept { return broken_field_; }

private:
    enum class state : std::uint8_t { start, plain, quoted, quote, quote_return };

    void append(std::string_view bytes);
    void end_field();
    void end_line();

    char separator_;
    std::size_t max_bytes_;
    state state_ = state::start;
    bool broken_ = false;
    bool quoted_field_ = false;
    std::size_t broken_field_ = 0;
    std::string text_;
    std::vector<std::size_t> ends_;
};

} // namespace heddle::rows
