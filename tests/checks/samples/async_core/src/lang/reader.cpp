#include <boost/asio/post.hpp> // expect: third-party
#include <boost/json.hpp>
#include <heddle/base/error.hpp>
#include <heddle/coro/task.hpp> // expect: layers
#include <heddle/lang/reader.hpp>
#include "coro/wheel.hpp" // expect: private-header
#include "lang/lexer.hpp"
// #include <boost/beast.hpp> is only spoken of
const char* text = "#include <boost/beast.hpp>";
const char* raw = R"(
#include <boost/beast.hpp>
)";
