// The part of an exchange that looks for the values of secrets in answers.

#include <array>
#include <charconv>

#include "proxy/exchange.h"

namespace igloo::proxy {

using network::Body;
using network::Framing;
using network::Record;

namespace {

/// Appends content to a message in the framing that its head tells.
void AppendFramed(std::string_view content, const Framing& framing, bool last, std::string& out) {
  if (framing.kind != Framing::Kind::kChunked) {
    out += content;
    return;
  }
  if (!content.empty()) {
    std::array<char, 16> size = {};
    const auto end = std::to_chars(size.data(), size.data() + size.size(), content.size(), 16).ptr;
    out.append(size.data(), end).append("\r\n").append(content).append("\r\n");
  }
  if (last) out += "0\r\n\r\n";
}

}  // namespace

void Exchange::TellFound() {
  std::vector<std::string> names = scan_->TakeFound();
  if (names.empty()) return;
  // SECURITY: told before the code can have read the answer, like a refusal.
  Tell(Record::Event::kReturned, std::move(names));
}

void Exchange::Tell(Record::Event event, std::vector<std::string> secrets) {
  Record record = client_.current_->record;
  record.event = event;
  record.secrets = std::move(secrets);
  client_.box()->Tell(std::move(record));
}

asio::awaitable<bool> Exchange::MoveScanned(std::string& head, const Framing& framing) {
  ByteStream& from = *server_->stream;
  std::string& pending = server_->pending;
  Body body(framing);
  for (bool over = false;;) {
    std::string content, clean;
    const auto taken = body.Take(pending, &content);
    if (!taken) {
      problem_ = taken.error().reason;
      co_return false;
    }
    pending.erase(0, *taken);
    over = over || body.ended();
    scan_->Take(content, clean);
    if (over) scan_->Finish(clean);
    TellFound();
    // The server's own chunks are not kept: a value can begin in one and end in another. Their
    // extensions and trailers go with them, which nobody asked for ("TE" is not passed on).
    std::string out = head;
    AppendFramed(clean, framing, over, out);
    const bool sent = co_await client_.socket_.Write(out);
    if (!sent) co_return false;
    client_.current_->record.bytes_in += out.size();
    head.clear();
    if (over) co_return true;
    Free(pending);
    const std::size_t read = co_await from.Read(pending);
    if (read > 0) continue;
    // What was held back of an answer that broke off is the beginning of a value, perhaps.
    if (framing.kind != Framing::Kind::kUntilClose) co_return false;
    over = true;
  }
}

}  // namespace igloo::proxy
