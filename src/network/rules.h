#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/rule.h"

namespace igloo::network {

/// What may be reached without a rule.
enum class Tier : std::uint8_t {
  kAllow,     ///< nothing
  kInternet,  ///< everything but the ranges that stay closed
};

/// What somebody wants to do.
struct Request {
  /// A tunnel is what cannot be looked into: CONNECT and SOCKS.
  enum class Way : std::uint8_t { kTunnel, kHttp, kHttps } way = Way::kTunnel;
  Host host = Address{};
  std::uint16_t port = 0;
  std::string method = {}, path = {};  ///< not of a tunnel; `path` may have a query
};

struct Decision {
  enum class Basis : std::uint8_t {
    kRefused,
    kName,     ///< a rule allows the name; its addresses are to be looked at
    kAddress,  ///< a rule allows the address
    kTier,     ///< the tier allows what is not closed
  } basis = Basis::kRefused;
  std::string rule = {};     ///< the rule that allows it, as text; empty when the tier does
  std::string refusal = {};  ///< why not
  std::string remedy = {};   ///< the rule that would allow it; empty when none does

  bool allowed() const { return basis != Basis::kRefused; }
  bool operator==(const Decision&) const = default;
};

/// Rules of one kind, by what they are found with.
class RuleTable {
 public:
  RuleTable() = default;
  explicit RuleTable(std::vector<Rule> rules);

  const Rule* Find(const Request& request) const;
  const Rule* FindAddress(const Address& address, const Request& request) const;
  /// Whether a rule about this very name asks something of requests.
  bool AsksRequestsTo(const Name& name) const;
  std::size_t size() const { return rules_.size(); }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  /// Indices of rules, by the text that they are found with.
  using Index =
      std::unordered_map<std::string, std::vector<std::uint32_t>, TextHash, std::equal_to<>>;

  const Rule* FindNamed(std::string_view name, const Request& request) const;
  const Rule* FirstOf(const Index& index, std::string_view key, const Request& request) const;

  std::vector<Rule> rules_ = {};
  Index names_ = {}, below_ = {}, networks_ = {};
  std::set<std::pair<Family, unsigned>> prefixes_ = {};  ///< those that occur
};

/// All rules of one sandbox. A new list is a new object, so a change is seen whole or not at all.
class RuleSet {
 public:
  /// Closed: nothing is allowed.
  RuleSet() = default;
  RuleSet(Tier tier, std::vector<Rule> rules);

  /// The error is that of the first broken rule.
  static Result<RuleSet> Parse(Tier tier, const std::vector<std::string>& rules);

  /// Before anything is resolved. A name that is allowed here is one that may be asked for; where
  /// it leads is looked at with DecideAddress.
  Decision Decide(const Request& request) const;
  /// An address that a name has led to. A closed range needs a rule for the address itself.
  Decision DecideAddress(const Address& address, std::uint16_t port) const;

  Tier tier() const { return tier_; }
  std::size_t size() const { return allowed_.size() + denied_.size(); }

 private:
  Decision Refused(const Request& request) const;
  /// The rule that denies a place, also one that an address of IPv6 carries.
  const Rule* FindDenied(const Request& request) const;

  Tier tier_ = Tier::kAllow;
  RuleTable allowed_ = {}, denied_ = {};  ///< the second beats the first and the tier
};

}  // namespace igloo::network
