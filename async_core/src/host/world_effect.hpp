// What effect builtins of the family "world" have in common.
#pragma once

#include <heddle/host/session.hpp>
#include <heddle/lang/builtin.hpp>

namespace heddle::host {

/// A row and its base; `run` is each effect's own.
class world_effect : public effect_handler {
public:
    explicit world_effect(lang::builtin row) : row_(row) {
        row_.how = lang::builtin_kind::effect;
        row_.family = "world";
    }
    const lang::builtin& row() const noexcept override { return row_; }

protected:
    /// TypeError in the words of pure builtins.
    [[nodiscard]] error type_error(session& owner, std::size_t index, std::string_view expected,
                                   const lang::value& given) const {
        lang::free_work work;
        lang::native_call call(owner.memory(), row_, work);
        call.fail_type(index, expected, given);
        return *std::move(call.failure());
    }

private:
    lang::builtin row_;
};

} // namespace heddle::host
