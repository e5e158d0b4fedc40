#include "proxy/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstring>
#include <utility>

#include "proxy/waiting.h"

namespace igloo::proxy {

namespace {

constexpr std::chrono::milliseconds kPatience(10'000);
/// HTTP/1.1 alone, in the form of the protocol.
constexpr unsigned char kProtocols[] = "\x08http/1.1";

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};
using SslPtr = std::unique_ptr<SSL, Freed<SSL_free>>;

std::string LastError() {
  const unsigned long code = ERR_get_error();
  const char* reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason != nullptr ? reason : "the connection broke";
}

/// TLS over a socket that OpenSSL reads and writes itself; what it waits for, we wait for.
class TlsStream final : public ByteStream {
 public:
  TlsStream(std::shared_ptr<Socket> socket, SslPtr ssl)
      : socket_(std::move(socket)), ssl_(std::move(ssl)) {}
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;
  ~TlsStream() override { Close(); }

  asio::awaitable<bool> Handshake() {
    while (socket_->open()) {
      ERR_clear_error();
      const int status = SSL_connect(ssl_.get());
      if (status == 1) co_return true;
      const bool again = co_await WaitFor(status);
      if (!again) co_return false;
    }
    co_return false;
  }

  asio::awaitable<std::size_t> Read(std::string& into) override {
    while (socket_->open()) {
      int status = 0;
      ERR_clear_error();
      const std::size_t count = ReadThrough(into, [&](char* to, std::size_t size) {
        std::size_t read = 0;
        status = SSL_read_ex(ssl_.get(), to, size, &read);
        return status == 1 ? read : 0;
      });
      if (status == 1) co_return count;
      const bool again = co_await WaitFor(status);
      if (!again) co_return 0;
    }
    co_return 0;
  }

  asio::awaitable<bool> Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (!socket_->open()) co_return false;
      std::size_t count = 0;
      ERR_clear_error();
      const int status = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
      if (status == 1) {
        bytes.remove_prefix(count);
        continue;
      }
      const bool again = co_await WaitFor(status);
      if (!again) co_return false;
    }
    co_return true;
  }

  void Close() override {
    if (!socket_->open()) return;
    SSL_shutdown(ssl_.get());  // a word of farewell that nobody waits for
    ERR_clear_error();
    socket_->Close();
  }

  bool IsStale() const override { return SSL_pending(ssl_.get()) > 0 || socket_->IsStale(); }

 private:
  asio::awaitable<bool> WaitFor(int status) {
    const int wanted = SSL_get_error(ssl_.get(), status);
    if (wanted == SSL_ERROR_WANT_READ) {
      const bool ready = co_await socket_->Readable();
      co_return ready;
    }
    if (wanted == SSL_ERROR_WANT_WRITE) {
      const bool ready = co_await socket_->Writable();
      co_return ready;
    }
    co_return false;
  }

  std::shared_ptr<Socket> socket_;  // shared with the deadline of its handshake
  SslPtr ssl_;
};

}  // namespace

struct Tls::Context {
  std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> ssl = {};
};

Tls::Tls(std::string roots) : roots_(std::move(roots)) {}
Tls::~Tls() = default;

Result<Tls::Context*> Tls::Prepared() {
  if (context_) return context_.get();
  // No file is read any more: neither configuration nor modules.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  auto context = std::make_unique<Context>();
  context->ssl.reset(SSL_CTX_new(TLS_client_method()));
  const std::unique_ptr<BIO, Freed<BIO_free>> file(
      BIO_new_mem_buf(roots_.data(), static_cast<int>(roots_.size())));
  if (!context->ssl || !file) return Fail(Errc::kInternal, "cannot set up TLS: " + LastError());
  SSL_CTX* ssl = context->ssl.get();
  SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
  SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  // A server that closes without a farewell ends its answer; what is missing shows in its length.
  SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_alpn_protos(ssl, kProtocols, sizeof kProtocols - 1);
  std::size_t count = 0;
  while (X509* root = PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl), root);
    X509_free(root);
    ++count;
  }
  ERR_clear_error();  // the end of the file is told as an error
  if (count == 0) {
    return Fail(Errc::kFailedPrecondition, "there are no certificates to trust",
                "install the package ca-certificates");
  }
  context_ = std::move(context);
  return context_.get();
}

asio::awaitable<Result<std::unique_ptr<ByteStream>>> Tls::Connect(std::shared_ptr<Socket> socket,
                                                                  const network::Name& name) {
  auto context = Prepared();
  if (!context) co_return std::unexpected(context.error());
  SslPtr ssl(SSL_new((*context)->ssl.get()));
  // SECURITY: both: which name is asked for, and that the certificate is of that name.
  const bool ready = ssl && SSL_set_fd(ssl.get(), socket->fd()) == 1 &&
                     SSL_set_tlsext_host_name(ssl.get(), name.text().c_str()) == 1 &&
                     SSL_set1_host(ssl.get(), name.text().c_str()) == 1;
  if (!ready) co_return Fail(Errc::kInternal, "cannot set up TLS: " + LastError());
  SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const auto executor = co_await asio::this_coro::executor;
  const Deadline deadline(executor, kPatience, [&] { socket->Close(); });
  SSL* raw = ssl.get();
  auto stream = std::make_unique<TlsStream>(socket, std::move(ssl));
  const bool done = co_await stream->Handshake();
  if (!done) {
    const long verdict = SSL_get_verify_result(raw);
    const std::string why =
        verdict == X509_V_OK ? LastError() : X509_verify_cert_error_string(verdict);
    ERR_clear_error();
    co_return Fail(Errc::kPermissionDenied, "no TLS with '" + name.text() + "': " + why);
  }
  co_return stream;
}

}  // namespace igloo::proxy
