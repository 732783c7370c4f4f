#include "scripted/rules.hpp"

#include <heddle/base/json_parser.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/providers/common/json_text.hpp>

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace heddle::scripted {

using namespace heddle::providers; // the codecs' helpers for JSON

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::size_t max_file = 16 * 1024 * 1024;
constexpr std::size_t max_rules = 10'000;
constexpr std::size_t max_shown_mistakes = 100;
constexpr double max_delay_ms = 24.0 * 3600 * 1000;

std::string_view view(const json::string& text) noexcept { return {text.data(), text.size()}; }

/// The type of error that OpenAI has for a status.
std::string_view usual_type(int status) noexcept {
    if (status == 401) return "authentication_error";
    if (status == 429) return "rate_limit_error";
    return status >= 500 ? "server_error" : "invalid_request_error";
}

/// Reads one file. Every function takes the JSON path of what it reads, for the report.
class reader {
public:
    explicit reader(std::vector<rule_mistake>& mistakes) : mistakes_(mistakes) {}

    rule_set read(const json::value& root) {
        rule_set set;
        const json::object* file = root.if_object();
        if (!file) {
            mistake("", "a rules file is a JSON object");
            return set;
        }
        only(*file, "", {"seed", "models", "rules", "default", "description"});
        if (const json::value* seed = file->if_contains("seed")) {
            if (seed->is_int64() && seed->get_int64() >= 0) {
                set.seed = static_cast<std::uint64_t>(seed->get_int64());
            } else {
                mistake("seed", "must be a whole number that is not negative");
            }
        }
        read_models(*file, set);
        const json::value* rules = file->if_contains("rules");
        const json::array* list = rules ? rules->if_array() : nullptr;
        if (rules && !list) mistake("rules", "must be a list");
        if (list && list->size() > max_rules) mistake("rules", "holds more than 10,000 rules");
        if (list && list->size() <= max_rules) {
            for (std::size_t i = 0; i < list->size(); ++i) {
                const std::string path = "rules[" + std::to_string(i) + "]";
                set.rules.push_back(read_rule((*list)[i], path, true, set));
            }
        }
        if (const json::value* last = file->if_contains("default")) {
            set.rules.push_back(read_rule(*last, "default", false, set));
        }
        if (!rules && !file->contains("default")) mistake("", "has neither rules nor a default");
        return set;
    }

private:
    void mistake(std::string path, std::string what) {
        if (mistakes_.size() < max_shown_mistakes)
            mistakes_.push_back({std::move(path), std::move(what)});
    }

    static std::string below(const std::string& path, std::string_view name) {
        return path.empty() ? std::string(name) : path + "." + std::string(name);
    }

    void only(const json::object& object, const std::string& path,
              std::initializer_list<std::string_view> known) {
        for (const auto& member : object) {
            const std::string_view name(member.key().data(), member.key().size());
            if (std::find(known.begin(), known.end(), name) != known.end()) continue;
            std::string names;
            for (const std::string_view one : known)
                names += (names.empty() ? "" : ", ") + std::string(one);
            mistake(below(path, name), "is not known here; known are " + names);
        }
    }

    /// A member that has to be a text if it is there.
    const json::string* text_in(const json::object& object, const std::string& path,
                                std::string_view name) {
        const json::value* found = object.if_contains(name);
        if (!found) return nullptr;
        if (!found->is_string()) mistake(below(path, name), "must be a string");
        return found->if_string();
    }

    std::optional<double> number_in(const json::object& object, const std::string& path,
                                    std::string_view name, double least, double greatest) {
        const json::value* found = object.if_contains(name);
        if (!found) return std::nullopt;
        return number(*found, below(path, name), least, greatest);
    }
    std::optional<double> number(const json::value& value, const std::string& path, double least,
                                 double greatest) {
        if (value.is_number()) {
            const double read = value.to_number<double>();
            if (read >= least && read <= greatest) return read;
        }
        std::string range;
        append_json_number(range, least);
        range += " to ";
        append_json_number(range, greatest);
        mistake(path, "must be a number from " + range);
        return std::nullopt;
    }

    void read_models(const json::object& file, rule_set& set) {
        if (const json::value* models = file.if_contains("models")) {
            const json::array* list = models->if_array();
            if (!list || list->empty()) mistake("models", "must be a list of names");
            for (std::size_t i = 0; list && i < list->size(); ++i) {
                if (const json::string* name = (*list)[i].if_string(); name && !name->empty()) {
                    set.models.emplace_back(view(*name));
                } else {
                    mistake("models[" + std::to_string(i) + "]", "must be a name");
                }
            }
        }
        if (set.models.empty()) set.models.emplace_back("scripted");
    }

    rule read_rule(const json::value& value, const std::string& path, bool has_match,
                   rule_set& file) {
        rule result;
        const json::object* object = value.if_object();
        if (!object) {
            mistake(path, "must be an object");
            return result;
        }
        if (has_match) {
            only(*object, path,
                 {"match", "name", "text", "template", "json", "tool_calls", "refusal", "error",
                  "delay_ms", "piece_ms", "finish", "usage", "description"});
        } else {
            only(*object, path,
                 {"name", "text", "template", "json", "tool_calls", "refusal", "error", "delay_ms",
                  "piece_ms", "finish", "usage", "description"});
        }
        text_in(*object, path, "name");
        template_scope scope;
        if (has_match) read_match(*object, path, result, scope, file);
        read_reply(*object, path, result, scope);
        read_delay(*object, path, result);
        read_error(*object, path, result);
        read_finish(*object, path, result);
        read_usage(*object, path, result);
        if (!result.text && !result.refusal && result.calls.empty() && !result.error) {
            mistake(path, "has no response: text, template, json, tool_calls, refusal or error");
        }
        const auto uses_prompt = [&](const text_template& one) {
            return one.uses(text_slot::prompt);
        };
        if ((result.text && uses_prompt(*result.text)) ||
            (result.refusal && uses_prompt(*result.refusal))) {
            file.looks_at_prompt = true;
        }
        for (const rule_call& call : result.calls) {
            if (uses_prompt(call.arguments)) file.looks_at_prompt = true;
        }
        return result;
    }

    void read_match(const json::object& object, const std::string& path, rule& result,
                    template_scope& scope, rule_set& file) {
        const json::value* match = object.if_contains("match");
        const std::string here = below(path, "match");
        if (!match) {
            mistake(path, "lacks its match; a rule for every prompt is the default");
        } else if (const json::string* expression = match->if_string()) {
            add_pattern(view(*expression), here, text_slot::user, result, scope);
        } else if (const json::object* parts = match->if_object()) {
            only(*parts, here, {"user", "system", "model", "prompt", "tool"});
            if (parts->empty()) mistake(here, "holds no expression");
            for (const auto& member : *parts) {
                const std::string_view name(member.key().data(), member.key().size());
                const auto slot = scope.slots.find(name);
                const auto first_group = static_cast<std::size_t>(text_slot::first_group);
                if (slot == scope.slots.end() || slot->second >= first_group)
                    continue; // reported by only()
                const json::string* text = member.value().if_string();
                if (!text) mistake(below(here, name), "must be an expression in a string");
                else
                    add_pattern(view(*text), below(here, name),
                                static_cast<text_slot>(slot->second), result, scope);
            }
        } else {
            mistake(here, "must be an expression or an object of expressions");
        }
        for (const rule_pattern& pattern : result.patterns) {
            if (pattern.over == text_slot::prompt) file.looks_at_prompt = true;
        }
    }

    void add_pattern(std::string_view text, const std::string& path, text_slot over, rule& result,
                     template_scope& scope) {
        auto expression = compile_expression(text, anchors::whole_text);
        if (!expression) {
            mistake(path, expression.error().message());
            return;
        }
        if ((*expression)->NumberOfCapturingGroups() >= max_groups) {
            mistake(path, "has more than " + std::to_string(max_groups - 1) + " groups");
            return;
        }
        if (scope.groups == 0) scope.groups = 1; // number 0, the whole of the first match
        for (const auto& [name, number] : (*expression)->NamedCapturingGroups()) {
            const std::size_t slot =
                group_slot(scope.groups + static_cast<std::size_t>(number) - 1);
            if (!scope.add_group(name, slot)) {
                mistake(path, "the group name '" + name + "' is taken");
            }
        }
        scope.groups += static_cast<std::size_t>((*expression)->NumberOfCapturingGroups());
        result.patterns.push_back({over, *std::move(expression)});
    }

    void keep(const result<void>& added, const std::string& path) {
        if (!added) mistake(path, added.error().message());
    }

    void read_reply(const json::object& object, const std::string& path, rule& result,
                    const template_scope& scope) {
        int bodies = 0;
        if (const json::string* text = text_in(object, path, "text")) {
            result.text.emplace().add_literal(view(*text));
            ++bodies;
        }
        if (const json::string* text = text_in(object, path, "template")) {
            const auto form = text_template::form::plain;
            keep(result.text.emplace().add(view(*text), scope, form), below(path, "template"));
            ++bodies;
        }
        if (const json::value* value = object.if_contains("json")) {
            add_json(result.text.emplace(), *value, below(path, "json"), scope);
            ++bodies;
        }
        if (bodies > 1) mistake(path, "has more than one of text, template and json");
        if (const json::string* text = text_in(object, path, "refusal")) {
            const auto form = text_template::form::plain;
            keep(result.refusal.emplace().add(view(*text), scope, form), below(path, "refusal"));
        }
        const json::value* calls = object.if_contains("tool_calls");
        if (!calls) return;
        const std::string here = below(path, "tool_calls");
        const json::array* list = calls->if_array();
        if (!list || list->empty()) return mistake(here, "must be a list of calls");
        for (std::size_t i = 0; i < list->size(); ++i) {
            read_call((*list)[i], here + "[" + std::to_string(i) + "]", result, scope);
        }
    }

    void read_call(const json::value& value, const std::string& path, rule& result,
                   const template_scope& scope) {
        const json::object* object = value.if_object();
        if (!object) return mistake(path, "must be an object");
        only(*object, path, {"name", "arguments", "id"});
        rule_call& call = result.calls.emplace_back();
        const json::string* name = text_in(*object, path, "name");
        if (name && !name->empty()) call.name = view(*name);
        else mistake(below(path, "name"), "must name a tool");
        if (const json::string* id = text_in(*object, path, "id")) call.id = view(*id);
        const json::value* arguments = object->if_contains("arguments");
        if (!arguments) return call.arguments.add_literal("{}");
        if (!arguments->is_object()) return mistake(below(path, "arguments"), "must be an object");
        add_json(call.arguments, *arguments, below(path, "arguments"), scope);
    }

    /// Compiles a JSON value to a template of its text. The depth is bounded by the file's parser.
    void add_json(text_template& out, const json::value& value, const std::string& path,
                  const template_scope& scope) {
        if (const json::string* text = value.if_string()) {
            keep(out.add_json_string(view(*text), scope), path);
        } else if (const json::array* list = value.if_array()) {
            out.add_literal("[");
            for (std::size_t i = 0; i < list->size(); ++i) {
                if (i != 0) out.add_literal(",");
                add_json(out, (*list)[i], path + "[" + std::to_string(i) + "]", scope);
            }
            out.add_literal("]");
        } else if (const json::object* object = value.if_object()) {
            out.add_literal("{");
            bool first = true;
            for (const auto& member : *object) {
                std::string key = std::exchange(first, false) ? "" : ",";
                append_json_string(key, {member.key().data(), member.key().size()});
                out.add_literal(key + ":");
                add_json(out, member.value(),
                         below(path, {member.key().data(), member.key().size()}), scope);
            }
            out.add_literal("}");
        } else {
            out.add_literal(json::serialize(value));
        }
    }

    void read_delay(const json::object& object, const std::string& path, rule& result) {
        const auto piece = number_in(object, path, "piece_ms", 0, 60'000);
        result.piece_delay = milliseconds(std::llround(piece.value_or(0)));
        const json::value* delay = object.if_contains("delay_ms");
        if (!delay) return;
        const std::string here = below(path, "delay_ms");
        const json::array* range = delay->if_array();
        if (range && range->size() != 2)
            return mistake(here, "must be a number or [least, longest]");
        const auto least = number(range ? (*range)[0] : *delay, here, 0, max_delay_ms);
        const auto longest = number(range ? (*range)[1] : *delay, here, 0, max_delay_ms);
        if (!least || !longest) return;
        if (*longest < *least) return mistake(here, "begins with the longer time");
        result.min_delay = milliseconds(std::llround(*least));
        result.max_delay = milliseconds(std::llround(*longest));
    }

    void read_error(const json::object& object, const std::string& path, rule& result) {
        const json::value* value = object.if_contains("error");
        if (!value) return;
        const std::string here = below(path, "error");
        const json::object* said = value->if_object();
        if (!said) return mistake(here, "must be an object");
        only(*said, here,
             {"status", "type", "code", "message", "retry_after", "times", "every", "probability"});
        rule_fault& made_fault = result.error.emplace();
        const auto status = number_in(*said, here, "status", 400, 599);
        if (status) made_fault.shown.status = static_cast<int>(*status);
        else if (!said->contains("status")) mistake(here, "lacks its status");
        made_fault.shown.type = usual_type(made_fault.shown.status);
        if (const auto* type = text_in(*said, here, "type")) made_fault.shown.type = view(*type);
        if (const auto* code = text_in(*said, here, "code")) made_fault.shown.code = view(*code);
        if (const auto* message = text_in(*said, here, "message"))
            made_fault.shown.message = view(*message);
        else made_fault.shown.message = "An error that the rules ask for.";
        if (const auto wait = number_in(*said, here, "retry_after", 0, 86400)) {
            made_fault.shown.retry_after = milliseconds(std::llround(*wait * 1000));
        }
        int conditions = 0;
        const auto counted = [&](std::string_view name, rule_fault::when when) {
            const auto count = number_in(*said, here, name, 1, 1e9);
            if (!count) return;
            if (*count != std::floor(*count)) mistake(below(here, name), "must be a whole number");
            made_fault.occurs = when;
            made_fault.count = static_cast<std::uint64_t>(*count);
            ++conditions;
        };
        counted("times", rule_fault::when::times);
        counted("every", rule_fault::when::every);
        if (const auto chance = number_in(*said, here, "probability", 0, 1)) {
            made_fault.occurs = rule_fault::when::probability;
            made_fault.probability = *chance;
            ++conditions;
        }
        if (conditions > 1) mistake(here, "has more than one of times, every and probability");
        const bool answers = result.text || result.refusal || !result.calls.empty();
        if (conditions == 1 && !answers)
            mistake(path, "fails at times but has no response for the others");
    }

    void read_finish(const json::object& object, const std::string& path, rule& result) {
        const json::string* finish = text_in(object, path, "finish");
        if (!finish) return;
        for (const auto reason :
             {ports::finish_reason::stop, ports::finish_reason::length,
              ports::finish_reason::tool_calls, ports::finish_reason::content_filter}) {
            if (to_string(reason) == view(*finish)) result.finish = reason;
        }
        if (!result.finish)
            mistake(below(path, "finish"), "must be stop, length, tool_calls or content_filter");
    }

    void read_usage(const json::object& object, const std::string& path, rule& result) {
        const json::value* usage = object.if_contains("usage");
        if (!usage) return;
        const std::string here = below(path, "usage");
        if (usage->is_null()) {
            result.usage = rule::usage_kind::none;
            return;
        }
        const json::object* counts = usage->if_object();
        if (!counts) return mistake(here, "must be an object or null");
        only(*counts, here, {"input", "output", "cached", "reasoning"});
        const auto count = [&](std::string_view name) {
            return std::llround(number_in(*counts, here, name, 0, 1e12).value_or(0));
        };
        result.usage = rule::usage_kind::given;
        result.given_usage.input = count("input");
        result.given_usage.output = count("output");
        result.given_usage.cached = count("cached");
        result.given_usage.reasoning = count("reasoning");
    }

    std::vector<rule_mistake>& mistakes_;
};

error report(std::string file, std::vector<rule_mistake> mistakes) {
    auto all = std::make_shared<rules_report>();
    all->file = std::move(file);
    all->mistakes = std::move(mistakes);
    const rule_mistake& first = all->mistakes.front();
    std::string message =
        all->file + ": " + (first.path.empty() ? "" : first.path + ": ") + first.what;
    if (all->mistakes.size() > 1) {
        message += " (and " + std::to_string(all->mistakes.size() - 1) + " more)";
    }
    return error(errc::invalid_argument, message).with_payload(std::move(all));
}

} // namespace

result<rule_set> read_rules(std::string_view text, const std::string& file) {
    std::vector<rule_mistake> mistakes;
    if (text.size() > max_file) {
        mistakes.push_back({"", "is larger than 16 MB"});
        return report(file, std::move(mistakes));
    }
    constexpr std::size_t max_depth = 64;
    json_parser parser(max_depth);
    boost::system::error_code ec;
    const std::size_t good = parser.write_some(text, ec);
    if (!ec && good < text.size()) ec = json::error::extra_data;
    if (!ec) parser.finish(ec);
    if (ec) {
        const std::string_view before = text.substr(0, good);
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        mistakes.push_back({"line " + std::to_string(line), "is not JSON: " + ec.message()});
        return report(file, std::move(mistakes));
    }
    const json::value root = parser.release();
    rule_set set = reader(mistakes).read(root);
    if (!mistakes.empty()) return report(file, std::move(mistakes));
    return set;
}

} // namespace heddle::scripted
