// What effect builtins of the family "world" have in common.
#pragma once

#include <heddle/host/session.hpp>
#include <heddle/lang/builtin.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::host {

/// What such an effect is called and takes.
struct effect_row {
    std::string_view name;
    std::string_view parameters = {};
    std::uint16_t min_arguments = 0;
    std::uint16_t max_arguments = 0; ///< lang::builtin::any_number: no bound
    std::string_view summary = {};
};

/// A row and its base; `run` is each effect's own.
class world_effect : public effect_handler {
public:
    explicit world_effect(const effect_row& row)
        : row_{.name = row.name,
               .parameters = row.parameters,
               .min_arguments = row.min_arguments,
               .max_arguments = row.max_arguments,
               .how = lang::builtin_kind::effect,
               .summary = row.summary,
               .example = {},
               .family = "world"} {}
    const lang::builtin& row() const noexcept override { return row_; }

protected:
    /// TypeError in the words of pure builtins.
    [[nodiscard]] error type_error(session& session, std::size_t index, std::string_view expected,
                                   const lang::value& given) const {
        lang::free_work work;
        lang::native_call call(session.memory(), row_, work);
        call.fail_type(index, expected, given);
        return *std::move(call.failure());
    }

    /// A text from outside as a value. Others have their turns while a long one is checked and
    /// copied. LimitError, where it does not fit in the memory: `what` it is.
    [[nodiscard]] static coro::task<result<lang::value>> text_value(effect_call& call,
                                                                    std::string text,
                                                                    std::string what);
    /// The content of a string value. Others have their turns while a long one is copied.
    [[nodiscard]] static coro::task<result<std::string>> content_of(effect_call& call,
                                                                    lang::value text);

private:
    lang::builtin row_;
};

} // namespace heddle::host
