#include <boost/beast/http.hpp> // expect: third-party
#include <heddle/ports/http_port.hpp>
