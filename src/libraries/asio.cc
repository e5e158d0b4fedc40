// The part of Asio that is no template, compiled here once (BOOST_ASIO_SEPARATE_COMPILATION).
#include <netdb.h>

// Nothing of igloo asks Asio for names. Weak, these calls bring no resolver of the C library into a
// static program, where it would want another program's libraries; a call from elsewhere still
// stops the link.
#pragma weak getaddrinfo
#pragma weak getnameinfo

#include <boost/asio/impl/src.hpp>
