// The words in which a node of the resolved program is described.
#pragma once

#include "lang/compile/ast.hpp"

#include <heddle/lang/realm.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// "if", "call", "define": what a node is.
[[nodiscard]] std::string_view kind_text(ast::node_kind kind) noexcept;

/// "register", "cell" (captured and changed later), "captured" (its value is copied).
[[nodiscard]] std::string_view home_of(const ast::variable& var) noexcept;

/// "(a b &optional c &rest d)"
[[nodiscard]] std::string parameters_text(const ast::lambda& code);

/// The name or the value that a node is about, cut to a readable length; may be empty.
[[nodiscard]] std::string subject_text(const ast::node& n, const realm& realm);

/// Where the variable lives that a node is about: "register", …, "global", "builtin"; may be empty.
[[nodiscard]] std::string_view subject_home(const ast::node& n, const realm& realm) noexcept;

/// A part of a node with what it is to it.
struct ast_part {
    std::string label; ///< "test", "then", "body"; may be empty
    const ast::node* part = nullptr;
};

/// All parts, in the order in which they are evaluated.
[[nodiscard]] std::vector<ast_part> parts_of(const ast::node& n);

} // namespace heddle::lang
