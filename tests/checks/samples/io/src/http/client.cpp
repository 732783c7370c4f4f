#include <boost/asio/ssl.hpp>
#include <boost/beast/http.hpp>
#include <heddle/http/client.hpp>
#include <heddle/lang/reader.hpp> // expect: layers
#include <openssl/ssl.h>
