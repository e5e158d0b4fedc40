#pragma once

#include <string>

#include "base/error.h"
#include "cli/args.h"
#include "config/catalogue.h"

namespace igloo::cli {

/// "none", "allow", "internet" or "host".
Result<network::Level> ParseNetwork(const std::string& text);

/// NAME=SOURCE@HOST:HEADER; SOURCE is env:VARIABLE or only VARIABLE, file:PATH or command:WORDS.
/// SECURITY: no error repeats what stands behind the "=": it may be the secret itself.
Result<config::SecretConfig> ParseSecret(const std::string& text);

/// Puts --network, --allow, --deny, --publish, --reach, --secret and --raw-sockets over what the
/// configuration says about an environment. --network beats the level, and all else is added; with
/// 'none' and 'host' nothing is left of what the configuration allows. --allow alone means
/// --network allow where there is no network.
Result<void> TakeNetwork(const ParsedArgs& args, const config::Config& config,
                         config::Configured& configured);

/// The options themselves, for the tables of `run` and `shell`.
inline constexpr Flag kNetworkFlag = {"--network", "TIER",
                                      "what it reaches: none (default), allow, internet or host",
                                      Values::kChoices, "none allow internet host"};
inline constexpr Flag kAllowFlag = {.name = "--allow",
                                    .value = "RULE",
                                    .description =
                                        "let it reach a host, an address or a URL; again "
                                        "for more",
                                    .times = Times::kOften};
inline constexpr Flag kDenyFlag = {
    .name = "--deny",
    .value = "PLACE",
    .description = "let it not reach a host or an address, whatever allows it; again for more",
    .times = Times::kOften};
inline constexpr Flag kPublishFlag = {
    .name = "--publish",
    .value = "HOST:BOX",
    .description = "port HOST of your 127.0.0.1 leads to its port BOX; again for more",
    .times = Times::kOften};
inline constexpr Flag kReachFlag = {
    .name = "--reach",
    .value = "PORT",
    .description = "its own 127.0.0.1:PORT leads to yours; again for more",
    .times = Times::kOften};
inline constexpr Flag kSecretFlag = {
    .name = "--secret",
    .value = "NAME=SOURCE@HOST:HEADER",
    .description =
        "requests to HOST carry a value that it never sees, in HEADER only (several: with commas); "
        "SOURCE is env:VARIABLE, file:PATH or command:WORDS",
    .times = Times::kOften};

inline constexpr Flag kRawSocketsFlag = {
    "--raw-sockets", "", "let it make packets itself (tcpdump, nmap -sS); with internet only"};

/// Says what a run may do that none does unless somebody named it.
void WarnOfRights(const network::Wanted& wanted, Console& console);

}  // namespace igloo::cli
