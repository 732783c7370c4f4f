// What names a part of a durable step in the journal.
#pragma once

#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/tasks/call/task_call.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// A digest of what a part was asked for, the same in every process and version. Not a defence
/// against forged names: whoever writes a journal can write anything.
class part_digest {
public:
    /// `kind`: of the part; parts of different kinds have different names.
    explicit part_digest(std::string_view kind) : asked_(kind) {}

    void add(std::string_view member) {
        asked_ += ' ' + std::to_string(member.size()) + ':';
        asked_ += member;
    }
    /// The written form, which does not depend on what the values share; of a megabyte of it at
    /// most: what differs later is taken for the same.
    void add(const lang::value& member) {
        add(std::string_view(lang::print_value(member, {max_printed_bytes})));
    }
    void add(const std::vector<bound_input>& inputs) {
        for (const bound_input& each : inputs) {
            add(std::string_view(each.name));
            if (each.given) add(each.content);
            else add(std::string_view());
        }
    }
    [[nodiscard]] ports::digest128 value() const { return of(asked_); }

    [[nodiscard]] static ports::digest128 of(std::string_view asked) {
        return {hash_text({0x2D358DCCAA6C78A5ULL, 0x8BB84B93962EACC9ULL}, asked),
                hash_text({0x4B33A62ED433D4A3ULL, 0x4D5A2DA51DE1AA47ULL}, asked)};
    }

private:
    static constexpr std::size_t max_printed_bytes = std::size_t{1} << 20;
    std::string asked_;
};

} // namespace heddle::tasks
