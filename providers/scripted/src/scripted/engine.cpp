#include <heddle/scripted/engine.hpp>

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/providers/common/json_text.hpp>

#include "common/service_error.hpp"
#include "scripted/rules.hpp"

#include <algorithm>

namespace heddle::scripted {

using namespace heddle::providers; // the codecs' helpers for JSON

namespace {

using ports::chat_message;
using ports::chat_request;
using ports::chat_response;
using ports::chat_role;

constexpr std::size_t shown_prompt = 80;

/// One step of splitmix64 (Steele, Lea, Flood 2014): a good mix of its input.
std::uint64_t mix(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

/// Chance that depends on the seed, the rule and how often it matched, and on nothing else: what
/// other prompts do in between changes nothing.
double chance(std::uint64_t seed, std::size_t rule, std::uint64_t match,
              std::uint64_t use) noexcept {
    const std::uint64_t bits = mix(mix(mix(seed) ^ rule) ^ (match * 4 + use));
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

std::int64_t estimate_tokens(std::size_t bytes) noexcept {
    return static_cast<std::int64_t>((bytes + 3) / 4); // four bytes to a token is near enough
}

std::size_t prompt_bytes(const chat_request& request) noexcept {
    std::size_t bytes = 0;
    for (const chat_message& message : request.messages) {
        bytes += message.text.size();
        for (const ports::tool_call& call : message.tool_calls) {
            bytes += call.name.size() + call.arguments_json.size();
        }
    }
    return bytes;
}

/// The texts of a prompt that rules look at. The views live as long as the request and this.
struct prompt_texts {
    explicit prompt_texts(const chat_request& request, bool whole_prompt) {
        std::size_t systems = 0;
        for (const chat_message& message : request.messages) {
            if (message.role == chat_role::user) user = message.text;
            if (message.role == chat_role::system && ++systems == 1) system = message.text;
        }
        if (systems > 1) {
            for (const chat_message& message : request.messages) {
                if (message.role != chat_role::system) continue;
                if (!joined_system.empty()) joined_system += '\n';
                joined_system += message.text;
            }
            system = joined_system;
        }
        const bool ends_in_tool =
            !request.messages.empty() && request.messages.back().role == chat_role::tool;
        if (ends_in_tool) tool = request.messages.back().text;
        if (!whole_prompt) return;
        for (const chat_message& message : request.messages) {
            if (!prompt.empty()) prompt += '\n';
            prompt += message.text;
        }
    }
    prompt_texts(const prompt_texts&) = delete;
    prompt_texts& operator=(const prompt_texts&) = delete;

    std::string_view user;
    std::string_view system;
    std::string_view tool;
    std::string joined_system;
    std::string prompt;
};

/// Tries the patterns of a rule; their groups go behind the texts in `values`.
bool matches(const rule& tried, slot_values& values) {
    re2::StringPiece groups[max_groups];
    values.resize(group_slot(0));
    for (const rule_pattern& pattern : tried.patterns) {
        const std::string_view text = values[static_cast<std::size_t>(pattern.over)];
        const int count = std::min(pattern.expression->NumberOfCapturingGroups() + 1, max_groups);
        if (!pattern.expression->Match({text.data(), text.size()}, 0, text.size(),
                                       re2::RE2::UNANCHORED, groups, count)) {
            return false;
        }
        const bool first = values.size() == group_slot(0);
        for (int i = first ? 0 : 1; i < count; ++i) {
            values.emplace_back(groups[i].data() ? groups[i].data() : "", groups[i].size());
        }
    }
    return true;
}

} // namespace

struct engine::state {
    std::string file;
    rule_set rules;
    std::uint64_t responses = 0;
    slot_values values; // kept for its memory

    bool fails(rule& chosen, std::size_t index) const {
        const rule_fault& failing = *chosen.error;
        switch (failing.occurs) {
        case rule_fault::when::always: return true;
        case rule_fault::when::times: return chosen.matched <= failing.count;
        case rule_fault::when::every: return chosen.matched % failing.count == 0;
        case rule_fault::when::probability:
            return chance(rules.seed, index, chosen.matched, 0) < failing.probability;
        }
        return false;
    }

    std::chrono::milliseconds delay_of(const rule& chosen, std::size_t index) const {
        const auto span = static_cast<double>((chosen.max_delay - chosen.min_delay).count() + 1);
        const double part = chance(rules.seed, index, chosen.matched, 1) * span;
        return chosen.min_delay + std::chrono::milliseconds(static_cast<std::int64_t>(part));
    }

    fault unmatched(std::string_view user) const {
        fault result;
        result.status = 400;
        result.type = "invalid_request_error";
        result.code = "no_matching_rule";
        std::string shown;
        append_json_string(shown, presentable(user, shown_prompt, nullptr));
        result.message = "no rule of " + file + " matches the prompt that begins " + shown;
        return result;
    }

    chat_response reply(const rule& chosen, const chat_request& request) {
        chat_response response;
        ++responses;
        response.id = "chatcmpl-scripted-" + std::to_string(responses);
        response.model = request.model.empty() ? rules.models.front() : request.model;
        if (chosen.text) chosen.text->fill(response.text, values);
        if (chosen.refusal) chosen.refusal->fill(response.refusal, values);
        std::size_t output = response.text.size() + response.refusal.size();
        for (std::size_t i = 0; i < chosen.calls.size(); ++i) {
            const rule_call& call = chosen.calls[i];
            ports::tool_call& out = response.tool_calls.emplace_back();
            out.id = call.id.empty()
                         ? "call_" + std::to_string(responses) + "_" + std::to_string(i + 1)
                         : call.id;
            out.name = call.name;
            call.arguments.fill(out.arguments_json, values);
            output += out.name.size() + out.arguments_json.size();
        }
        response.finish =
            chosen.finish.value_or(response.tool_calls.empty() ? ports::finish_reason::stop
                                                               : ports::finish_reason::tool_calls);
        if (!response.refusal.empty()) response.finish = ports::finish_reason::refusal;
        if (chosen.usage == rule::usage_kind::given) response.usage = chosen.given_usage;
        if (chosen.usage == rule::usage_kind::estimated) {
            response.usage = ports::token_usage{estimate_tokens(prompt_bytes(request)),
                                                estimate_tokens(output), 0, 0};
        }
        return response;
    }
};

engine::engine(std::unique_ptr<state> object) noexcept : state_(std::move(object)) {}
engine::~engine() = default;

result<std::shared_ptr<engine>> engine::parse(std::string_view json, std::string file) {
    auto object = std::make_unique<state>();
    HEDDLE_TRY(object->rules, read_rules(json, file));
    object->file = std::move(file);
    return std::shared_ptr<engine>(new engine(std::move(object)));
}

outcome engine::answer(const chat_request& request) {
    state& self = *state_;
    const prompt_texts texts(request, self.rules.looks_at_prompt);
    self.values.assign({texts.user, texts.system, request.model, texts.prompt, texts.tool});
    for (std::size_t i = 0; i < self.rules.rules.size(); ++i) {
        rule& tried = self.rules.rules[i];
        if (!matches(tried, self.values)) continue;
        ++tried.matched;
        outcome result;
        result.delay = self.delay_of(tried, i);
        result.piece_delay = tried.piece_delay;
        if (tried.error && self.fails(tried, i)) result.response = tried.error->shown;
        else result.response = self.reply(tried, request);
        return result;
    }
    outcome none;
    none.response = self.unmatched(texts.user);
    return none;
}

const std::string& engine::file() const noexcept { return state_->file; }
std::size_t engine::rule_count() const noexcept { return state_->rules.rules.size(); }
const std::vector<std::string>& engine::models() const noexcept { return state_->rules.models; }

std::string rules_report::text() const {
    std::string all;
    for (const rule_mistake& one : mistakes) {
        all += file + ": ";
        if (!one.path.empty()) all += one.path + ": ";
        all += one.what + "\n";
    }
    return all;
}

std::vector<std::string_view> stream_pieces(std::string_view text) {
    constexpr std::size_t least = 12;   // bytes; about three tokens
    constexpr std::size_t longest = 64; // of a text without blanks
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        std::size_t end = utf8::prefix_size(text, longest);
        // Not farther than the piece may reach: the whole text each time would be quadratic.
        const std::size_t blank = text.substr(0, end).find_first_of(" \n", least);
        if (blank != std::string_view::npos) end = blank + 1;
        pieces.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return pieces;
}

} // namespace heddle::scripted
