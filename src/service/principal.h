#pragma once

#include <boost/asio/io_context.hpp>
#include <utility>

#include "service/output_store.h"
#include "service/sessions.h"

namespace igloo::service {

/// What a server has for one principal alone: sessions and kept output. The runner below is shared.
/// SECURITY: nothing here knows another principal, so no name, URI or id of one leads to what
/// another has.
class Principal {
 public:
  /// `loop` and `runner` outlive it.
  Principal(boost::asio::io_context& loop, Runner& runner, Owner owner)
      : sessions_(loop, runner, SessionLimits{}, std::move(owner)) {}

  const Owner& owner() const { return sessions_.owner(); }
  Sessions& sessions() { return sessions_; }
  OutputStore& outputs() { return outputs_; }

 private:
  OutputStore outputs_ = {};
  Sessions sessions_;
};

}  // namespace igloo::service
