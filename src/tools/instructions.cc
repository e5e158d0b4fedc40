#include "tools/instructions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tools/run_contract.h"

namespace igloo::tools {
namespace {

/// Clients cut at 4,096.
constexpr std::size_t kMost = 4000;

std::string LineOf(const service::Offered& offered) {
  std::string line = "- " + offered.name;
  for (const std::string& alias : offered.aliases) {
    line += (&alias == offered.aliases.data() ? " (or " : ", ") + alias;
  }
  if (!offered.aliases.empty()) line += ")";
  if (!offered.description.empty()) line += ": " + Printable(offered.description);
  line += fmt::format(" [{:g} s, {}", static_cast<double>(offered.limits.time_ms) / 1000.0,
                      HumanBytes(offered.limits.memory_bytes));
  if (offered.rights.network) line += ", network: " + Printable(offered.reaches);
  if (offered.rights.writable_host) line += ", changes the project";
  return line + "]\n";
}

/// Which kinds of tools there are.
struct Offer {
  bool run = false, connected = false;
  bool others = false;  ///< one for each environment
};

Offer OfferOf(const std::vector<mcp::Tool>& tools) {
  Offer offer;
  for (const mcp::Tool& tool : tools) {
    // A user's sandbox may be called 'run', too, but has no schema for what comes out.
    const bool own = tool.output_schema.has_value();
    if (own && tool.name == kRun) {
      offer.run = true;
    } else if (own && tool.name == kConnected) {
      offer.connected = true;
    } else {
      offer.others = true;
    }
  }
  return offer;
}

std::string HowToCall(const Offer& offer, const config::SessionConfig& session) {
  if (!offer.run && !offer.connected) {
    return "Each tool runs code in an environment of its own: it starts afresh and keeps nothing.";
  }
  std::string text = fmt::format(
      "Call {}(code, env){}", offer.run ? kRun : kConnected,
      offer.run && offer.connected ? ", or run_connected for environments that can do more" : "");
  const auto seconds = [](std::uint64_t ms) { return static_cast<double>(ms) / 1000; };
  text += fmt::format(
      ": it starts afresh in an empty /workspace and keeps nothing. With session=NAME files last "
      "from call to call, and variables and the working directory where an interpreter can keep "
      "them (python, node, ruby, shell). A session belongs to the environment of its first "
      "call and ends {:g} s after its last one and {:g} s after its first, or with "
      "session_action=\"close\"; session=\"new\" lets the server choose the name. display(x) in "
      "python and igloo.display(x) in node show pictures, tables and JSON.",
      seconds(session.idle_ms), seconds(session.lifetime_ms));
  if (offer.others) text += " The other tools run code in one environment each.";
  return text;
}

/// Who tries them anyway is told EPERM, which does not name the right.
std::string RawSocketsSentence(const std::vector<service::Offered>& offered) {
  const auto lacks = [](const service::Offered& each) {
    return service::CouldHaveRawSockets(each.network);
  };
  if (std::ranges::none_of(offered, lacks)) return "";
  return " Raw sockets (tcpdump, nmap -sS) need raw_sockets = true in [environments.NAME] of the "
         "user's configuration.";
}

}  // namespace

std::string Names(const std::vector<const service::Offered*>& environments) {
  std::string names;
  for (const service::Offered* each : environments)
    names += (names.empty() ? "" : ", ") + each->name;
  return names;
}

std::string FitToClients(const std::string& text) {
  if (text.size() <= kMost) return text;
  const std::size_t end = text.rfind('\n', kMost - 100);
  std::size_t left_out = 0;
  for (std::size_t at = end + 1; at < text.size(); ++at) left_out += text[at] == '\n' ? 1 : 0;
  return text.substr(0, end + 1) + fmt::format("... and {} more lines", left_out);
}

std::string Instructions(const service::Setup& setup, const std::vector<mcp::Tool>& tools) {
  const Offer offer = OfferOf(tools);
  const bool connected = std::ranges::any_of(
      setup.offered(), [](const service::Offered& each) { return each.rights.network; });
  std::string text = "Runs code in disposable sandboxes. " +
                     HowToCall(offer, setup.config().session) +
                     (connected ? " Only environments that say so reach the network, through "
                                  "proxy variables that are set; there is no access to the user's "
                                  "files"
                                : " There is no network and no access to the user's files");
  const auto& project = setup.config().project;
  if (project.path.empty()) {
    text += ".\n";
  } else {
    const std::string_view mode = project.mode == environment::ProjectMode::kReadOnly ? "read-only"
                                  : project.mode == environment::ProjectMode::kOverlay
                                      ? "changes to it are dropped"
                                      : "changes to it are real";
    text += fmt::format(" but the project directory mounted at {} ({}).\n",
                        Printable(project.mount_point), mode);
  }
  text += "On failure check stderr and the exit code.";
  text += RawSocketsSentence(setup.offered());
  if (!offer.run && !offer.connected) return FitToClients(text + "\n");
  text +=
      " Input files go into 'files'; files that the code leaves in its working directory come "
      "back, pictures as images.\n"
      "Environments, with their time and memory limits:\n";
  for (const service::Offered& offered : setup.offered()) text += LineOf(offered);
  for (const service::Unusable& unusable : setup.unusable()) {
    text += fmt::format("- {}: cannot be used: {}\n", unusable.name, Printable(unusable.why.what));
  }
  return FitToClients(text);
}

}  // namespace igloo::tools
