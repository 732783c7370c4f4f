#include "memory/query_terms.hpp"

#include <algorithm>

namespace heddle::memory {

namespace {

constexpr std::size_t max_terms = 64;
// Of one part: what comes after is looked at no more.
constexpr std::size_t max_terms_read = 2'000;

void add(std::vector<weighted_term>& terms, std::string_view text, double weight) {
    token_list tokens;
    append_tokens(text, tokens, max_terms_read);
    for (std::size_t i = 0; i < tokens.size() && terms.size() < max_terms; ++i) {
        const bool known = std::any_of(terms.begin(), terms.end(), [&](const weighted_term& one) {
            return one.term == tokens[i];
        });
        if (!known) terms.push_back({std::string(tokens[i]), weight});
    }
}

} // namespace

index_query query_of(const ports::memory_request& request, std::size_t default_limit) {
    index_query index;
    index.limit = request.limit.value_or(default_limit);
    index.strategy = request.strategy.value_or(ports::matching_strategy::content);
    add(index.terms, request.query, 1);
    if (request.template_description) add(index.terms, *request.template_description, 0.5);
    if (request.inputs) {
        for (const ports::memory_input& input : *request.inputs) {
            add(index.terms, input.name, 0.25);
            add(index.terms, input.text, 0.5);
        }
    }
    for (const auto* said :
         {&request.previous_outputs, &request.inherited_context, &request.history}) {
        if (*said) add(index.terms, **said, 0.25);
    }
    return index;
}

} // namespace heddle::memory
