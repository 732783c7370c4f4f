#include "tasks/definition/parameter_list.hpp"

#include <heddle/lang/errors.hpp>

namespace heddle::tasks {

namespace {

class parameter_reader {
public:
    explicit parameter_reader(const std::string& definer) : definer_(definer) {}

    result<task_input> read(const source_form& param) const {
        task_input made;
        if (param.is_symbol()) {
            made.name = param.text();
            return made;
        }
        if (!param.is_list() || param.size() == 0 || !param[0].is_symbol()) {
            return fail(param.span, "must hold names or lists (name type \"description\"), not " +
                                        param.shown());
        }
        made.name = param[0].text();
        std::size_t at = 1;
        if (at < param.size() && param[at].is_symbol() && param[at].text() == "optional") {
            made.optional = true;
            ++at;
        }
        if (at < param.size() && param[at].is_symbol()) made.type = param[at++].text();
        // Brackets are parentheses to the reader: string[] comes as string ().
        if (at < param.size() && !made.type.empty() && param[at].is_list() &&
            param[at].size() == 0) {
            made.type += "[]";
            ++at;
        }
        // The description and the default may stand in either order.
        for (; at < param.size(); ++at) {
            const source_form part = param[at];
            if (part.is_string() && made.description.empty()) made.description = part.text();
            else if (part.is_list() && part.size() == 2 && part[0].is_symbol() &&
                     part[0].text() == "default" && !made.default_json) {
                HEDDLE_CHECK(read_default(part[1], made));
            } else {
                return fail(part.span, "has a part of '" + made.name +
                                           "' that cannot be read: " + part.shown());
            }
        }
        return made;
    }

    [[nodiscard]] error fail(source_span where, const std::string& what) const {
        return error(lang::errc::evaluation, definer_ + ": params " + what).with_span(where);
    }

private:
    result<void> read_default(const source_form& given, task_input& made) const {
        const source_form content = given.unquoted();
        const bool quoted = !content.content.identical(given.content);
        if (!quoted && (content.is_symbol() || (content.is_list() && content.size() != 0))) {
            return fail(given.span, "must give '" + made.name + "' a literal as its default, not " +
                                        given.shown())
                .with_hint("quote a list: (default '(1 2))");
        }
        auto json = form_to_json(content);
        if (!json) {
            return fail(given.span,
                        "has a default of '" + made.name + "' that " + json.error().message());
        }
        made.default_json = std::move(*json);
        made.optional = true;
        return {};
    }

    const std::string& definer_;
};

} // namespace

result<std::vector<task_input>> read_parameters(const source_form& clause,
                                                const std::string& definer) {
    const parameter_reader reader(definer);
    if (clause.size() - 1 > template_limits::max_inputs) {
        return reader.fail(clause.span, "has too many parameters");
    }
    std::vector<task_input> made;
    for (std::size_t i = 1; i < clause.size(); ++i) {
        HEDDLE_TRY(task_input input, reader.read(clause[i]));
        for (const task_input& other : made) {
            if (other.name == input.name) {
                return reader.fail(clause[i].span, "names '" + input.name + "' twice");
            }
        }
        made.push_back(std::move(input));
    }
    return made;
}

} // namespace heddle::tasks
