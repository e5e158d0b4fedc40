#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"

namespace igloo::environment {

/// A part of the host's /etc that packages need, and why.
struct EtcRow {
  std::string_view pattern = {};  ///< below /etc; '*' in its first part: versions are in names
  std::string_view reason = {};
};

/// All of them. Nothing about users, hosts, keys or services is among them.
std::span<const EtcRow> EtcRows();

/// Why a path inside is shown: the reason of the row that it belongs to; empty: of none.
std::string_view WhyInEtc(std::string_view target);

/// Something of /etc that is shown as it is.
struct EtcPart {
  std::string path = {};       ///< below /etc: "fonts/fonts.conf"
  std::string points_to = {};  ///< of a link: it stays one; empty: a file or a directory
  bool directory = false;
  bool operator==(const EtcPart&) const = default;
};

/// As whom code in a sandbox reads files of the host.
enum class Reader {
  kCaller,  ///< as the user who starts it
  kNobody,  ///< started by root, it has an id that no account has
};
Reader UsualReader();

/// What `directory`, the host's /etc, has of all rows. Only what every user of the host may read:
/// a directory that has anything else in it comes in parts, without that. To code that is
/// nobody the kernel refuses that itself, and the directory comes as it is: looking takes time.
std::vector<EtcPart> ReadEtc(const std::string& directory, Reader reader = UsualReader());

/// Shows the parts of `directory` in /etc.
void AddEtc(const std::string& directory, const std::vector<EtcPart>& parts,
            std::vector<sandbox::Entry>& contents);

}  // namespace igloo::environment
