// Scopes of an analyzer that last as long as an object.
#pragma once

#include "analyzer.hpp"

#include <utility>

namespace heddle::lang {

/// Closes what was opened after it.
class analyzer::scope_closer {
public:
    explicit scope_closer(analyzer& owner) : owner_(owner), outer_(owner.scope_) {}
    ~scope_closer() { owner_.close_to(outer_); }
    scope_closer(const scope_closer&) = delete;
    scope_closer& operator=(const scope_closer&) = delete;

private:
    analyzer& owner_;
    scope* outer_;
};

/// Opens a scope for its lifetime.
class analyzer::scope_guard {
public:
    scope_guard(analyzer& owner, scope& opened) : closing_(owner) { owner.open(opened); }

private:
    scope_closer closing_;
};

/// Names are those of `inside` for its lifetime.
class analyzer::scope_switch {
public:
    scope_switch(analyzer& owner, scope* inside)
        : owner_(owner), kept_(std::exchange(owner.scope_, inside)) {}
    ~scope_switch() { owner_.scope_ = kept_; }
    scope_switch(const scope_switch&) = delete;
    scope_switch& operator=(const scope_switch&) = delete;

private:
    analyzer& owner_;
    scope* kept_;
};

} // namespace heddle::lang
