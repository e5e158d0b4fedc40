#include "clients/render.h"

#include <fmt/format.h>

namespace igloo::clients {
namespace {

std::string List(const std::vector<std::string>& words, Spacing spacing) {
  std::string out = "[";
  for (const std::string& word : words) {
    if (out.size() > 1) out += spacing == Spacing::kWide ? ", " : ",";
    out += Quote(word);
  }
  return out + "]";
}

}  // namespace

std::string Quote(std::string_view text) {
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
  std::string out = "\"";
  for (const char c : text) {
    if (const std::size_t found = kSpecial.find(c); found != std::string_view::npos) {
      out += {'\\', kNames[found]};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string FieldValue(const Field& field, const Server& server, Spacing spacing) {
  switch (field.kind) {
    case Field::Kind::kCommand:
      return Quote(server.command);
    case Field::Kind::kArgs:
      return List(server.args, spacing);
    case Field::Kind::kCommandLine: {
      std::vector<std::string> words = {server.command};
      words.insert(words.end(), server.args.begin(), server.args.end());
      return List(words, spacing);
    }
    case Field::Kind::kLiteral:
      return std::string(field.literal);
  }
  return "";
}

std::string_view Colon(const Layout& layout) {
  return layout.spacing == Spacing::kWide ? ": " : ":";
}

std::string JsonBlock(const Client& client, const Server& server, const Layout& layout) {
  const std::string line = std::string(layout.newline) + layout.indent;
  std::string out = "{";
  for (const Field& field : client.fields) {
    const bool first = out.size() == 1;
    if (!first) out += ",";
    if (layout.own_lines) {
      out += line + layout.unit;
    } else if (!first && layout.spacing == Spacing::kWide) {
      out += " ";
    }
    out += fmt::format("\"{}\"{}{}", field.key, Colon(layout),
                       FieldValue(field, server, layout.spacing));
  }
  return out + (layout.own_lines ? line : "") + "}";
}

std::string TomlBlock(const Client& client, const Server& server, std::string_view newline) {
  std::string out = fmt::format("[{}.{}]{}", client.key, server.name, newline);
  for (const Field& field : client.fields) {
    out += fmt::format("{} = {}{}", field.key, FieldValue(field, server, Spacing::kWide), newline);
  }
  return out;
}

}  // namespace igloo::clients
