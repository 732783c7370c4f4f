#include <boost/asio/ssl/stream.hpp> // expect: third-party
#include <boost/beast/http.hpp>      // expect: third-party
#include <boost/json.hpp>
#include <heddle/http/client.hpp> // expect: layers
#include <heddle/ports/http_port.hpp>
#include <openssl/ssl.h>   // expect: third-party
#include <spdlog/spdlog.h> // expect: third-party
