// A long text in the making.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// Text that grows without a copy of what is there, in portions of work.
class text_builder {
public:
    explicit text_builder(work_meter& work) : work_(work) {}
    /// What was made in vain goes in portions of work too.
    ~text_builder();
    text_builder(const text_builder&) = delete;
    text_builder& operator=(const text_builder&) = delete;

    /// What is short is written to its end; settle() follows, before it is much.
    [[nodiscard]] std::string& tail() noexcept { return tail_; }
    /// `more`: units of work that it took to make what was written. False: stop.
    [[nodiscard]] bool settle(std::uint64_t more = 0) {
        const std::size_t grown = tail_.size() - paid_;
        paid_ = tail_.size();
        if (!work_.spend(work_of_a_part + more + grown / work_meter::bytes_of_a_unit)) return false;
        if (paid_ >= piece) put_tail_away();
        return true;
    }
    /// A text of any length. False: stop.
    [[nodiscard]] bool append(std::string_view text);
    [[nodiscard]] std::size_t size() const noexcept { return put_away_ + tail_.size(); }

    /// The whole. Nothing: stop.
    [[nodiscard]] std::optional<std::string> text() &&;
    /// The same as a value. The text is valid UTF-8, and shorter than value::max_length.
    [[nodiscard]] std::optional<value> to_value(heap& memory) &&;

private:
    static constexpr std::size_t piece = 64 * 1024;
    static constexpr std::uint64_t work_of_a_part = 4; ///< however short it is
    void put_tail_away();
    void drop_pieces() noexcept;

    work_meter& work_;
    std::vector<std::string> pieces_;
    std::size_t put_away_ = 0; ///< bytes in them
    std::string tail_;
    std::size_t paid_ = 0; ///< bytes of the tail
};

/// A text as a value, in portions of work: it is valid UTF-8, and shorter than value::max_length.
/// Nothing: stop.
[[nodiscard]] std::optional<value> make_long_string(heap& memory, std::string_view text,
                                                    work_meter& work);

} // namespace heddle::lang
