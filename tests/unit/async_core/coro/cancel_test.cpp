#include <heddle/coro/cancel.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace heddle::coro {
namespace {

struct hook final : cancel_hook {
    void on_cancel(cancel_reason why) noexcept override {
        ++called;
        reason = why;
        if (then) then();
    }
    int called = 0;
    cancel_reason reason = cancel_reason::none;
    std::function<void()> then;
};

TEST(cancel_source, a_request_reaches_all_hooks_once_and_unhooks_them) {
    cancel_source source;
    hook one;
    hook two;
    source.hook(one);
    source.hook(two);
    source.request(cancel_reason::user);
    source.request(cancel_reason::deadline);
    EXPECT_EQ(one.called, 1);
    EXPECT_EQ(two.called, 1);
    EXPECT_EQ(two.reason, cancel_reason::user);
    EXPECT_EQ(source.reason(), cancel_reason::user);
    EXPECT_FALSE(one.hooked());
}

TEST(cancel_source, the_reason_none_is_no_request) {
    cancel_source source;
    source.request(cancel_reason::none);
    EXPECT_FALSE(source.requested());
}

TEST(cancel_source, a_hook_after_the_request_is_not_called) {
    cancel_source source;
    source.request(cancel_reason::budget);
    hook late;
    source.hook(late);
    EXPECT_FALSE(late.hooked());
    EXPECT_EQ(late.called, 0);
}

TEST(cancel_source, an_unhooked_or_destroyed_hook_is_not_called) {
    cancel_source source;
    hook stays;
    {
        hook goes;
        source.hook(goes);
        source.hook(stays);
    }
    stays.unhook();
    source.request(cancel_reason::user);
    EXPECT_EQ(stays.called, 0);
}

TEST(cancel_source, hooking_elsewhere_leaves_the_first_source) {
    cancel_source first;
    cancel_source second;
    hook moved;
    first.hook(moved);
    second.hook(moved);
    first.request(cancel_reason::user);
    EXPECT_EQ(moved.called, 0);
    second.request(cancel_reason::sibling);
    EXPECT_EQ(moved.reason, cancel_reason::sibling);
}

TEST(cancel_source, requests_go_down_the_tree_and_not_up) {
    cancel_source root;
    cancel_source left(&root);
    cancel_source right(&root);
    cancel_source leaf(&left);
    hook at_leaf;
    leaf.hook(at_leaf);
    left.request(cancel_reason::sibling);
    EXPECT_TRUE(leaf.requested());
    EXPECT_EQ(at_leaf.reason, cancel_reason::sibling);
    EXPECT_FALSE(root.requested());
    EXPECT_FALSE(right.requested());
    root.request(cancel_reason::shutdown);
    EXPECT_EQ(right.reason(), cancel_reason::shutdown);
    EXPECT_EQ(leaf.reason(), cancel_reason::sibling); // the first reason stays
}

TEST(cancel_source, a_child_of_a_cancelled_parent_is_born_cancelled) {
    cancel_source parent;
    parent.request(cancel_reason::user);
    const cancel_source child(&parent);
    EXPECT_EQ(child.reason(), cancel_reason::user);
}

TEST(cancel_source, a_hook_may_remove_others_while_it_is_called) {
    cancel_source source;
    hook first;
    auto second = std::make_unique<hook>();
    hook third;
    source.hook(first);
    source.hook(*second);
    source.hook(third);
    first.then = [&] {
        second.reset();
        third.unhook();
    };
    source.request(cancel_reason::user);
    EXPECT_EQ(first.called, 1);
    EXPECT_EQ(third.called, 0);
}

TEST(cancel_source, a_source_that_ends_lets_go_of_its_hooks) {
    hook waiting;
    {
        cancel_source source;
        source.hook(waiting);
    }
    EXPECT_FALSE(waiting.hooked());
}

} // namespace
} // namespace heddle::coro
