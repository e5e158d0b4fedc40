#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"
#include "mcp/json_rpc.h"

namespace igloo::mcp {

template <class T>
struct Page {
  std::vector<T> items = {};
  std::string next = {};  ///< the cursor of the page that follows; empty on the last
};

/// The part of `all` that `cursor` asks for, in the order of `key`. A cursor names the last item of
/// the page before it, so what comes and goes in between neither repeats nor hides another item.
template <class T>
Answer<Page<T>> CutPage(std::vector<T> all, std::string T::* key, std::string_view cursor,
                        std::size_t size) {
  constexpr std::string_view kPrefix = "after:";
  std::ranges::sort(all, {}, key);
  auto begin = all.begin();
  if (!cursor.empty()) {
    const std::optional<std::string> after = FromBase64(cursor);
    if (!after || !after->starts_with(kPrefix)) {
      return Refuse(RpcCode::kInvalidParams,
                    "this cursor is not one of this server's; ask again without a cursor");
    }
    begin = std::ranges::upper_bound(all, after->substr(kPrefix.size()), {}, key);
  }
  const auto left = static_cast<std::size_t>(all.end() - begin);
  const auto end = begin + static_cast<std::ptrdiff_t>(std::min(left, size));
  Page<T> page;
  if (end != all.end() && end != begin) {
    page.next = ToBase64(std::string(kPrefix) + (*(end - 1)).*key);
  }
  page.items.assign(std::make_move_iterator(begin), std::make_move_iterator(end));
  return page;
}

}  // namespace igloo::mcp
