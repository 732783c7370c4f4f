// Code of spawn and with-permit.
#include "generator.hpp"
#include "lang/machine/join_policy.hpp"

#include <heddle/lang/text.hpp>

namespace heddle::lang {

namespace {

constexpr auto futures_policy = static_cast<unsigned>(join_policy::futures);
constexpr unsigned spawned = 2; // branch_call: the end goes to a future

} // namespace

/// A body that contains `spawn`: whatever way it is left, what it spawned ends before.
void generator::body_with_futures() {
    const source_span span = source_.span;
    const auto group = static_cast<unsigned>(allocate());
    source_.futures->slot = static_cast<int>(group);
    const auto result = static_cast<unsigned>(allocate());
    const auto pending = static_cast<unsigned>(allocate());
    emit(instruction::ad(op::load_int, group, 0), span);
    const int label = constant_index(make_string(realm_.memory(), ""));
    emit(instruction::abc(op::join_begin, group, group, static_cast<unsigned>(label),
                          futures_policy),
         span);
    const std::size_t begin = emit(instruction::abc(op::nop, 0), span);
    to(*source_.body, static_cast<int>(result));
    emit(instruction::abc(op::join_end, group, group, 0, 1), span);
    const std::size_t end = here();
    emit(instruction::abc(op::return_value, result), span);
    out_->handlers.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                              static_cast<std::uint32_t>(here()),
                              static_cast<std::uint16_t>(pending), true});
    emit(instruction::abc(op::join_abort, group), span);
    emit(instruction::abc(op::rethrow, pending, 0, 0, 1), span);
}

void generator::spawn(const node& n, int dest) {
    mark give_back(*this);
    const auto join = static_cast<unsigned>(anywhere(*n.children[0]));
    const auto result = static_cast<unsigned>(allocate());
    emit(instruction::abc(op::future_make, result, join), n.span);
    const auto callee = static_cast<unsigned>(fresh(*n.children[1]));
    emit(instruction::abc(op::branch_call, callee, 0, 0, spawned), n.span);
    emit(instruction::abc(op::jump, result, join), n.span); // operands of the branch
    emit(instruction::abc(op::branch_done, callee, join, result), n.span);
    if (dest != nowhere)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), result), n.span);
}

/// The permit is released however the body ends; a register holds whether there is one.
void generator::with_permit(const node& n, int dest) {
    mark give_back(*this);
    const int result = dest == nowhere ? nowhere : allocate();
    const auto limit = static_cast<unsigned>(fresh(*n.children[0]));
    const auto held = static_cast<unsigned>(allocate());
    const auto pending = static_cast<unsigned>(allocate());
    emit(instruction::ad(op::load_int, held, 0), n.span);
    const std::size_t begin = emit(instruction::abc(op::nop, 0), n.span);
    emit(instruction::abc(op::permit_take, held, limit), n.span);
    to(*n.children[1], result);
    const std::size_t end = here();
    emit(instruction::abc(op::permit_release, held, limit), n.span);
    const std::size_t past = emit(instruction::ad(op::jump, 0, 0), n.span);
    out_->handlers.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                              static_cast<std::uint32_t>(here()),
                              static_cast<std::uint16_t>(pending), true});
    emit(instruction::abc(op::permit_release, held, limit), n.span);
    emit(instruction::abc(op::rethrow, pending, 0, 0, 1), n.span);
    patch(past, here());
    if (result != nowhere)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(result)),
             n.span);
}

} // namespace heddle::lang
