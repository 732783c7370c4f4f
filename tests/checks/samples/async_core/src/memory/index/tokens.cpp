#include <heddle/memory/tokens.hpp>
