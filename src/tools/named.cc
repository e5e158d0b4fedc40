#include "tools/named.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/text.h"
#include "service/uri.h"
#include "tools/clip.h"
#include "tools/picture.h"

namespace igloo::tools {
namespace {

/// So that reading one back fits into an answer, whatever is in it.
constexpr std::size_t kPart = 3U << 20;
/// Clients and models take so many pictures, and none that is larger: in base64 it has a third more
/// bytes.
constexpr std::size_t kMostPictures = 8, kLargestPicture = 3'500'000;

/// A stream as it is kept: the beginning and the end, when it was too long even for that.
std::string WholeText(const session::CappedText& stream) {
  if (!stream.cut()) return stream.kept();
  return fmt::format("{}\n[... {} bytes were not kept]\n{}", stream.kept(), stream.omitted(),
                     stream.last());
}

/// Collects what is to be kept, and who wants to know where it is.
class Keeping {
 public:
  void Text(std::string_view name, std::string_view text, std::vector<std::string>& uris) {
    for (int part = 1; !text.empty(); ++part) {
      const std::string_view piece = WholeCharacters(text, kPart);
      text.remove_prefix(piece.size());
      const bool only = part == 1 && text.empty();
      items_.push_back({.name = only ? std::string(name) : fmt::format("{}-{}", name, part),
                        .mime_type = "text/plain",
                        .bytes = std::string(piece)});
      tell_.push_back([&uris](std::string uri) { uris.push_back(std::move(uri)); });
    }
  }
  void Bytes(std::string name, std::string bytes, NamedItem& thing) {
    items_.push_back({.name = std::move(name), .mime_type = thing.type, .bytes = std::move(bytes)});
    tell_.push_back([&thing](std::string uri) { thing.uri = std::move(uri); });
  }
  void Finish(service::OutputStore& store) {
    std::vector<std::string> uris = store.Keep(std::move(items_));
    for (std::size_t i = 0; i < uris.size(); ++i) tell_[i](std::move(uris[i]));
  }

 private:
  std::vector<service::OutputStore::Item> items_ = {};
  std::vector<std::function<void(std::string)>> tell_ = {};  ///< in the order of the items
};

/// Chooses pictures in the order in which they come.
class PictureChoice {
 public:
  bool Takes(std::string_view type, std::string_view bytes) {
    if (shown_ == kMostPictures || bytes.size() > kLargestPicture) return false;
    if (!IsWholePicture(type, bytes)) return false;
    ++shown_;
    return true;
  }

 private:
  std::size_t shown_ = 0;
};

/// A file of a session is read where it is, for as long as the session lives; others are kept.
constexpr std::size_t kLongestUri = 1000;

void NameFile(session::LeftFile& file, const std::string& session, PictureChoice& pictures,
              Keeping& keeping, NamedItem& thing) {
  thing = {.name = file.path, .size = file.size, .state = file.state};
  if (file.state != session::LeftFile::State::kRead) {
    thing.type = "application/octet-stream";
    return;
  }
  thing.type = service::MimeTypeOf(file.path, file.bytes, file.text);
  if (pictures.Takes(thing.type, file.bytes)) thing.shown = mcp::Blob{file.bytes};
  if (!session.empty()) {
    thing.uri = service::UriOf({.session = session, .path = file.path});
    if (thing.uri.size() <= kLongestUri) return;
    thing.uri.clear();
  }
  keeping.Bytes("files/" + file.path, std::move(file.bytes), thing);
}

/// `texts` is what is left for those that are text.
void NamePart(session::Part& part, std::string name, std::size_t& texts, PictureChoice& pictures,
              Keeping& keeping, NamedItem& thing) {
  // SECURITY: the code can say any type that it likes.
  thing = {.name = name, .type = Quoted(part.type, 100), .size = part.bytes.size()};
  if (IsImage(part.type)) {
    if (pictures.Takes(part.type, part.bytes)) thing.shown = mcp::Blob{part.bytes};
  } else if (part.bytes.size() <= texts) {
    texts -= part.bytes.size();
    thing.shown = mcp::Blob{std::move(part.bytes)};
    return;
  }
  keeping.Bytes(std::move(name), std::move(part.bytes), thing);
}

}  // namespace

Named NameAll(service::Finished& finished, const Room& room, service::OutputStore& store) {
  Named named;
  Keeping keeping;
  PictureChoice pictures;
  const session::RunResult& run = finished.run;
  if (run.output.total() > room.output) {
    keeping.Text("stdout", WholeText(run.output), named.output);
  }
  if (run.error.total() > room.error) keeping.Text("stderr", WholeText(run.error), named.error);
  if (finished.value && finished.value->size() > room.value) {
    keeping.Text("value", *finished.value, named.value);
  }
  named.files.resize(finished.left.files.size());
  for (std::size_t i = 0; i < named.files.size(); ++i) {
    NameFile(finished.left.files[i], finished.session, pictures, keeping, named.files[i]);
  }
  named.parts.resize(finished.parts.size());
  std::size_t texts = room.parts;
  for (std::size_t i = 0; i < named.parts.size(); ++i) {
    NamePart(finished.parts[i], fmt::format("part-{}", i + 1), texts, pictures, keeping,
             named.parts[i]);
  }
  keeping.Finish(store);
  return named;
}

}  // namespace igloo::tools
